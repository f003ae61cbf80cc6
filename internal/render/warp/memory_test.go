package warp

import (
	"context"
	"flag"
	"image"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/rendertest"
)

var minutes = flag.Int("minutes", 25, "length of the long video of TestMemory_long")

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

const (
	// shortMinutes is the length of the video with which TestMemory_long compares.
	shortMinutes = 2
	// mostGrowth bounds by how much the peak of memory grows with each frame, in bytes: some 100 are kept of a frame, the collector lets garbage take
	// half as much again, and a slice that grows is there twice for a moment.
	mostGrowth = 2 * 1.5 * 100
	// noise is by how much the peaks of one length differ, in bytes: those of 2 minutes were 35 to 38 MB.
	noise = 4 << 20
)

// TestMemory_long renders a short and a long clip of a head that talks, in memory, and compares what memory the program takes. It starts no process
// and keeps no output.
func TestMemory_long(t *testing.T) {
	if *minutes <= shortMinutes {
		t.Fatalf("%d minutes are no more than %d", *minutes, shortMinutes)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as the programs do
	const loop = 60
	clip := rendertest.Clip{Width: 160, Height: 96, Rate: medium.Rate{Num: 30000, Den: 1001}, Samples: rendertest.Tone(2.002, .1)}
	for i := range loop {
		f := facetest.Frame(160, 96, small(i))
		clip.Frames = append(clip.Frames, slices.Concat(f.Y, f.Cb, f.Cr))
	}
	path := clip.File(t, "clip")
	const framesOfMinute = 30 * loop
	var peaks []int64
	check.ResetPeak(t)
	for _, length := range []int{shortMinutes, *minutes} {
		r := &render.Renderer{
			Media: rendertest.Looped{Times: length * framesOfMinute / loop}, Engines: map[string]engine.Engine{"": Engine{Cores: 2}}, Limits: intake.DefaultLimits(),
			NewTracker: func(float64) people.Tracker { return &loopedTracker{loop: loop} },
		}
		r.Limits.Duration = time.Duration(length+1) * time.Minute
		result, err := r.Render(t.Context(), render.Job{Video: path, Audio: path, Output: filepath.Join(t.TempDir(), "o.mp4"), Scratch: t.TempDir()}, nil)
		if err != nil || result.Frames.Synced != length*framesOfMinute {
			t.Fatalf("got %+v (%v), want %d frames", result.Frames, err, length*framesOfMinute)
		}
		peaks = append(peaks, check.PeakMemory(t))
		t.Logf("%d minutes: peak memory %d MB", length, peaks[len(peaks)-1]>>20)
	}
	more := (*minutes - shortMinutes) * framesOfMinute
	if grown := peaks[1] - peaks[0]; grown > int64(mostGrowth*more+noise) {
		t.Errorf("%d more frames take %d bytes, want at most %.0f for each and %d", more, grown, float64(mostGrowth), noise)
	}
}
