package smoke

import (
	"os"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

// Draw sets the stack's media: two videos of .6 s, and two speeches, the long one of ten minutes. With that, the larger video has too many pixels for
// a small worker.
func (s *Stack) Draw(t *testing.T) {
	t.Helper()
	made := func(name string, arguments ...string) []byte {
		content, err := os.ReadFile(ffmpegtest.Make(t, name, arguments...))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	speech := func(name, seconds string) []byte {
		// With more samples a second, an MP3 would have more bits.
		return made(name, "-f", "lavfi", "-i", "sine=frequency=200:sample_rate=16000:duration="+seconds, "-b:a", "8k")
	}
	drawn := ffmpegtest.Head(t, 15)
	s.Video, s.Large = made("video.mp4", "-i", drawn, "-vf", "scale=480:270"), made("large.mp4", "-i", drawn, "-vf", "scale=1920:1080")
	s.Audio, s.Long = speech("audio.mp3", "0.6"), speech("long.mp3", "600")
}
