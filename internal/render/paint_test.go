package render

import (
	"context"
	"image"
	"testing"

	"lipsync/internal/ffmpeg"
)

// eager is an engine that wants many frames at once.
type eager struct {
	Engine
	workers int
}

func (e eager) Workers() int { return e.workers }

// TestWorkers checks that the frames in memory are bounded by their bytes.
func TestWorkers(t *testing.T) {
	for _, c := range []struct{ width, height, wanted, want int }{
		{1280, 720, 1, 1}, {1280, 720, 32, 32}, {1920, 1080, 128, 80}, {3840, 2160, 32, 15},
		{4096, 4096, 32, 4}, {4096, 4096, 3, 3}, {1 << 15, 1 << 15, 32, 2}, {16, 16, 2048, 2048},
	} {
		w := &rendering{engine: eager{workers: c.wanted}, video: &ffmpeg.Info{Video: &ffmpeg.Video{Width: c.width, Height: c.height}}}
		if got := w.workers(); got != c.want {
			t.Errorf("%d wanted for %d × %d pixels: got %d, want %d", c.wanted, c.width, c.height, got, c.want)
		}
	}
}

// still is a painter whose mouths are always the same.
type still struct {
	Painter
	mouths []Mouth
}

func (s *still) Paint(context.Context, int, *image.YCbCr) ([]Mouth, error) { return s.mouths, nil }

// TestNoGarbage checks that a frame on its way takes no new memory, after the
// first.
func TestNoGarbage(t *testing.T) {
	r := image.Rect(8, 8, 40, 32)
	frame, painter := noise(image.Rect(0, 0, 64, 48), 1), &still{mouths: []Mouth{{Image: noise(r, 2), Mask: image.NewAlpha(r)}}}
	free := make(buffers, 3)
	tasks := newTasks(free)
	var b blender
	output := 0
	made := testing.AllocsPerRun(50, func() {
		next := &tasks[output%len(tasks)]
		next.output, next.frame, next.share = output, frame, 255
		if err := b.paint(t.Context(), painter, next); err != nil {
			t.Fatal(err)
		}
		output++
	})
	if made >= 1 {
		t.Errorf("%g allocations a frame, want none", made)
	}
}
