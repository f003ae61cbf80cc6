package render

import (
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// TestLimitsOfOutputs renders videos over a limit whose outputs keep it. An output over the limit is refused.
func TestLimitsOfOutputs(t *testing.T) {
	fast := ffmpegtest.Make(t, "f.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-r", "240")
	wide := ffmpegtest.Make(t, "w.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-vf", "scale=320:192")
	long := ffmpegtest.Make(t, "l.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 100))
	for name, c := range map[string]struct {
		video string
		asked order.Options
		want  failure.Reason
	}{
		"240 frames a second":                   {fast, order.Options{}, failure.FrameRateAbove},
		"240 frames a second, of which 30":      {fast, order.Options{Output: order.Output{FPS: 30000}}, ""},
		"too wide":                              {wide, order.Options{}, failure.PictureLargerThan},
		"too wide, with a width":                {wide, order.Options{Output: order.Output{Width: 160}}, ""},
		"too long":                              {long, order.Options{}, failure.MediaLongerThan},
		"too long, of which a part is rendered": {long, order.Options{Preview: order.Preview{Start: time.Second, Length: 500 * time.Millisecond}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRenderer(t, &numberer{})
			r.Limits.Width, r.Limits.Duration = 200, 2*time.Second
			job := Job{Video: c.video, Audio: sound(t, "a.wav", "1.9"), Output: t.TempDir() + "/o.mp4", Scratch: t.TempDir(), Options: c.asked}
			if _, err := r.Render(t.Context(), job, nil); (err == nil) != (c.want == "") || err != nil && failure.Of(err).Code != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
