package soak

import (
	"os"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

// Media returns the input files of a short job. The video is a copy of the larger one, so small that
// a detector can just find the face. The sound has a length of 2 s, as will the output.
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
