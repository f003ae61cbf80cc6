package render

import (
	"bytes"
	"image/jpeg"
	"path/filepath"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

// TestPoster makes a poster of a complete output.
func TestPoster(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	dir := t.TempDir()
	job := Job{Video: video, Audio: sound(t, "a.wav", "0.8"), Output: filepath.Join(dir, "o.mp4"), Scratch: dir}
	job.Poster = true
	made, err := newRenderer(t, &numberer{}).Render(t.Context(), job, nil)
	if err != nil || made.NoPoster != nil {
		t.Fatal(err, made.NoPoster)
	}
	_, _, info := numbers(t, job.Output)
	size, err := jpeg.DecodeConfig(bytes.NewReader(made.Poster))
	if err != nil || size.Width != info.Video.Width || size.Height != info.Video.Height {
		t.Errorf("got %d × %d (%v), want %d × %d", size.Width, size.Height, err, info.Video.Width, info.Video.Height)
	}
}
