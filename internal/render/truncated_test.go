package render

import (
	"path/filepath"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/test/ffmpegtest"
)

// TestTruncated checks that a video without its second half is refused, if the output needs that
// half, and that whole videos are accepted, whatever length they state.
func TestTruncated(t *testing.T) {
	const frames = 100 // 4 s
	tone := []string{"-f", "lavfi", "-i", "sine=f=300:d=4", "-g", "10"}
	numbered := func(name string, args ...string) string {
		return ffmpegtest.Make(t, name, append([]string{"-f", "lavfi", "-i", ffmpegtest.Numbered("25", frames)}, args...)...)
	}
	half := func(path string) string {
		return edit(t, path, func(b []byte) []byte { return b[:len(b)/2] })
	}
	mp4 := numbered("a.mp4", append(tone, "-movflags", "+faststart")...)
	mkv := numbered("a.mkv", append(tone, "-c:v", "libx264")...)
	longer := []string{"-f", "lavfi", "-i", "sine=f=300:d=8"}
	speech, short := sound(t, "a.wav", "5"), sound(t, "short.wav", "1")
	for _, test := range []struct {
		name, video, audio string
		refused            bool
	}{
		{"mp4, half", half(mp4), speech, true},
		{"mov, half", half(numbered("a.mov", append(tone, "-movflags", "+faststart")...)), speech, true},
		{"mkv, half", half(mkv), speech, true},
		{"mkv without sound, half", half(numbered("s.mkv", "-g", "10")), speech, true},
		{"webm, half", half(numbered("a.webm", append(tone, "-c:v", "libvpx", "-deadline", "realtime")...)), speech, true},
		{"mp4, half, of which the output shows a second", half(mp4), short, false},

		{"mp4", mp4, speech, false},
		{"mkv", mkv, speech, false},
		{"avi", numbered("a.avi", tone...), speech, false},
		{"webm of no stated length", numbered("live.webm", append(tone, "-c:v", "libvpx", "-deadline", "realtime", "-live", "1")...), speech, false},
		{"mp4 with a longer sound", numbered("longer.mp4", longer...), speech, false},
		{"mkv with a longer sound", numbered("longer.mkv", longer...), speech, false},
		{"mkv that begins late", ffmpegtest.Make(t, "late.mkv", "-i", mkv, "-c", "copy", "-output_ts_offset", "5"), speech, false},
		{"mp4 that begins late", ffmpegtest.Make(t, "late.mp4", "-i", mp4, "-c", "copy", "-output_ts_offset", "5"), speech, false},
		{"mp4 with an edit list", ffmpegtest.Make(t, "edit.mp4", "-ss", "2.2", "-i", mp4, "-c", "copy"), speech, false},
		{"mp4 of a variable rate", numbered("vfr.mp4", "-vf", "select='lt(n,20)+gt(n,90)'", "-fps_mode", "vfr"), speech, false},
		{"mp4 in pieces", ffmpegtest.Make(t, "pieces.mp4", "-i", mp4, "-c", "copy", "-movflags", "frag_keyframe+empty_moov"), speech, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := newRenderer(t, &numberer{}).Render(t.Context(), Job{Video: test.video, Audio: test.audio, Output: filepath.Join(dir, "o.mp4"), Scratch: dir}, nil)
			refused := err != nil && failure.Of(err).Code == failure.MediaTruncated
			if refused != test.refused || err != nil && !refused {
				t.Errorf("got %v, want it to be refused: %t", err, test.refused)
			}
		})
	}
}
