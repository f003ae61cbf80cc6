package render

import (
	"context"
	"image"
	"testing"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/blend"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/flow"
)

// eager is an engine that wants many frames at once.
type eager struct {
	engine.Engine
	workers int
}

func (e eager) Workers() int { return e.workers }

// TestWorkers checks that the frames in memory are bounded by their bytes.
func TestWorkers(t *testing.T) {
	for _, c := range []struct {
		width, height         int
		format                medium.PixelFormat
		wanted, want, wantAll int
	}{
		{1280, 720, 0, 1, 1, 7}, {1280, 720, 0, 32, 32, 38}, {1920, 1080, 0, 128, 80, 86}, {3840, 2160, 0, 32, 15, 21},
		{4096, 4096, 0, 32, 4, 10}, {4096, 4096, 0, 3, 3, 9}, {1 << 15, 1 << 15, 0, 32, 2, 4}, {16, 16, 0, 2048, 2048, 2054},
		{1920, 1080, medium.YUV420P10, 128, 37, 43}, {3840, 2160, medium.YUV422P10, 8, 2, 8}, {4096, 4096, medium.YUV420P10, 8, 2, 5},
		{4096, 4096, medium.YUVA444P10, 8, 2, 4}, {4096, 4096, medium.YUVA420P, 8, 2, 6},
	} {
		v := &medium.Video{Width: c.width, Height: c.height, Pixels: c.format}
		w := work{engine: eager{workers: c.wanted}}
		if got, all := w.workers(v); got != c.want || all != c.wantAll {
			t.Errorf("%d wanted for %d × %d pixels in %s: got %d of %d frames, want %d of %d", c.wanted, c.width, c.height, c.format, got, all, c.want, c.wantAll)
		}
	}
}

// still is a painter whose mouths are always the same.
type still struct {
	engine.Painter
	mouths []engine.Mouth
}

func (s *still) Paint(context.Context, int, *image.YCbCr) ([]engine.Mouth, error) {
	return s.mouths, nil
}

// TestNoGarbage checks that a frame on its way takes no new memory, after the
// first.
func TestNoGarbage(t *testing.T) {
	for _, format := range []medium.PixelFormat{medium.YUV420P, medium.YUVA420P, medium.YUV422P10} {
		noGarbage(t, &medium.Video{Width: 64, Height: 48, Pixels: format})
	}
}

func noGarbage(t *testing.T, v *medium.Video) {
	r := image.Rect(8, 8, 40, 32)
	painter := &still{mouths: []engine.Mouth{{Image: image.NewYCbCr(r, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(r)}}}
	tasks := newTasks(make(flow.Buffers[[]byte], 3))
	frame, b := make([]byte, v.FrameSize()), blend.New(v)
	output := 0
	made := testing.AllocsPerRun(50, func() {
		next := &tasks[output%len(tasks)]
		next.output, next.frame, next.share = output, frame, 255
		if err := next.paint(t.Context(), painter, b); err != nil {
			t.Fatal(err)
		}
		output++
	})
	if made >= 1 {
		t.Errorf("%s: %g allocations a frame, want none", v.Pixels, made)
	}
}
