package render

import (
	"context"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/rendertest"
)

// changing is Media with a video whose colours change after some frames.
type changing struct {
	rendertest.Media
	after int
}

func (c changing) OpenFrames(ctx context.Context, in *medium.Info, most int) (ffmpeg.Frames, error) {
	frames, err := c.Media.OpenFrames(ctx, in, most)
	return &changingFrames{frames, c.after}, err
}

type changingFrames struct {
	ffmpeg.Frames
	left int
}

func (f *changingFrames) ReadPixels(frame []byte) error {
	if f.left--; f.left < 0 {
		return medium.ColoursError{}
	}
	return f.Frames.ReadPixels(frame)
}

// TestColoursChange refuses a video whose colours change in a frame that the output shows.
func TestColoursChange(t *testing.T) {
	for after, want := range map[int]failure.Reason{0: failure.MediaUnsupported, 5: failure.MediaUnsupported, 15: ""} {
		r := inMemory(t, &numberer{})
		r.Media = changing{after: after}
		job := Job{Video: numbered(t, "25", 20), Audio: tone(t, "0.4"), Output: filepath.Join(t.TempDir(), "o.mp4"), Scratch: t.TempDir()}
		_, err := r.Render(t.Context(), job, nil)
		if got := failure.Of(err).Code; (err == nil) != (want == "") || err != nil && got != want {
			t.Errorf("after %d frames: got %v, want %q", after, err, want)
		}
	}
}
