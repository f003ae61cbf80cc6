package render

import (
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// TestHeardWarnings renders speech that is no usual speech, and a segment that ends after its video.
func TestHeardWarnings(t *testing.T) {
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	tone := func(expression string) string {
		return ffmpegtest.Make(t, "a.wav", "-f", "lavfi", "-i", "aevalsrc="+expression+":d=1:s=16000")
	}
	segment := order.Segments{{Ref: "a", Start: 0, End: 2 * time.Second}}
	for name, c := range map[string]struct {
		audio    string
		segments order.Segments
		want     order.Warnings
	}{
		"usual":   {tone(".1*sin(2000*t)"), nil, ""},
		"silence": {tone("0"), nil, order.NobodySpeaks},
		"quiet":   {tone(".002*sin(2000*t)"), nil, order.QuietSpeech},
		"loud":    {tone("2*sin(2000*t)"), nil, order.LoudSpeech},
		"segment": {tone(".1*sin(2000*t)"), segment, order.SegmentIsCut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := Job{Video: video, Audio: c.audio, Audios: map[string]string{"a": c.audio}, Segments: c.segments, Output: dir + "/o.mp4", Scratch: dir}
			made, err := newRenderer(t, &numberer{}).Render(t.Context(), j, nil)
			if err != nil || made.Warnings != c.want {
				t.Errorf("got %q (%v), want %q", made.Warnings, err, c.want)
			}
		})
	}
}
