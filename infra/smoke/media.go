package smoke

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lipsync/internal/media/demo"
)

// Draw sets the stack's media: two videos of .6 s, and two speeches, the long one of ten minutes. With that, the larger video has too many pixels for
// a small worker.
func (s *Stack) Draw(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	speech := func(seconds, name string) {
		// With more samples a second, an MP3 would have more bits.
		ffmpeg(t, "-f", "lavfi", "-i", "sine=frequency=200:sample_rate=16000:duration="+seconds, "-b:a", "8k", path(name))
	}
	if err := demo.Video(t.Context(), path("demo.mp4"), 15, func(int) {}); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-i", path("demo.mp4"), "-vf", "scale=480:270", path("video.mp4"))
	ffmpeg(t, "-i", path("demo.mp4"), "-vf", "scale=1920:1080", path("large.mp4"))
	speech("0.6", "audio.mp3")
	speech("600", "long.mp3")
	for name, into := range map[string]*[]byte{"large.mp4": &s.Large, "video.mp4": &s.Video, "audio.mp3": &s.Audio, "long.mp3": &s.Long} {
		var err error
		if *into, err = os.ReadFile(path(name)); err != nil {
			t.Fatal(err)
		}
	}
}

func ffmpeg(t *testing.T, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, arguments...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", c, err, out)
	}
}
