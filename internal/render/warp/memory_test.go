package warp

import (
	"context"
	"flag"
	"image"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/render"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/rendertest"
)

var minutes = flag.Int("minutes", 25, "length of the video of TestMemory_long")

// small returns a head that talks in small frames.
func small(i int) facetest.Head {
	h := talking(i)
	h.X, h.Y, h.Eyes = 80, 36, 25
	return h
}

// loopedTracker follows the head of frames that play over and over.
type loopedTracker struct {
	loop, frames int
}

func (l *loopedTracker) Add(_ context.Context, frame *image.YCbCr) (*tracking.Seen, error) {
	h := small(l.frames % l.loop)
	l.frames++
	face := tracking.Face{Face: detection.Face{Box: detection.Box{X: 80, Y: 48, Size: 60}, Landmarks: h.Landmarks(), Lips: lipsOf(h)}}
	face.Crop = pixels.NewCrop(frame, frame.Rect, 25)
	return &tracking.Seen{Faces: []tracking.Face{face}, Cut: l.frames == 1}, nil
}

// TestMemory_long renders a long clip of a head that talks, in memory, and logs what memory the program takes. It starts no process and
// keeps no output.
func TestMemory_long(t *testing.T) {
	const loop = 60
	clip := rendertest.Clip{Width: 160, Height: 96, Rate: ffmpeg.Rate{Num: 30000, Den: 1001}, Samples: rendertest.Tone(2.002, .1)}
	for i := range loop {
		f := facetest.Frame(160, 96, small(i))
		clip.Frames = append(clip.Frames, slices.Concat(f.Y, f.Cb, f.Cr))
	}
	path := clip.File(t, "clip")
	r := &render.Renderer{
		Media: rendertest.Looped{Times: 30 * *minutes}, Engines: map[string]render.Engine{"": Engine{Cores: 2}}, Limits: render.DefaultLimits(),
		NewTracker: func(float64) render.Tracker { return &loopedTracker{loop: loop} },
	}
	r.Limits.Duration = time.Duration(*minutes+1) * time.Minute
	result, err := r.Render(t.Context(), render.Job{Video: path, Audio: path, Output: filepath.Join(t.TempDir(), "o.mp4"), Scratch: t.TempDir()}, nil)
	if err != nil || result.Frames.Synced != 1800**minutes {
		t.Fatalf("got %+v (%v), want %d frames", result.Frames, err, 1800**minutes)
	}
	t.Logf("%d minutes: peak memory %d MB", *minutes, check.PeakMemory(t)>>20)
}
