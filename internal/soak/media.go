package soak

import (
	"os"
	"testing"

	"lipsync/internal/ffmpeg/ffmpegtest"
)

// Media returns the files of a job that takes little time: a larger video with a face, made
// about as small as a face can be found in, and a sound of 2 s, which is also the length of
// the output.
func Media(t *testing.T, larger string) (video, audio []byte) {
	t.Helper()
	return read(t, ffmpegtest.Make(t, "video.mp4", "-i", larger, "-vf", "scale=96:54")),
		read(t, ffmpegtest.Make(t, "speech.wav", "-f", "lavfi", "-i", "sine=frequency=200:duration=2"))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
