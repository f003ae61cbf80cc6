package wav2lip

import (
	"context"
	"image"
	"log/slog"
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/network/batch"
	"lipsync/internal/render"
	"lipsync/internal/test/facetest"
)

// network is a network as a Go function, which paints one face.
type network func(face, sound, out []float32)

// asItIs paints the face of its input.
func asItIs(face, _, out []float32) { copy(out, face[len(face)/2:]) }

// goBinding is the binding of a network in Go.
type goBinding struct {
	inputs [2][]float32
	output []float32
	run    func(ctx context.Context, c *goBinding) error
}

func (c *goBinding) Input(i int) []float32         { return c.inputs[i] }
func (c *goBinding) Output(int) []float32          { return c.output }
func (c *goBinding) Run(ctx context.Context) error { return c.run(ctx, c) }
func (c *goBinding) Close() error                  { return nil }

// newTestEngine returns an engine with a network in Go.
func newTestEngine(t testing.TB, size, most int, n network) *Engine {
	t.Helper()
	return startTest(t, model{faces: 0, sound: 1, size: size, Network: batch.Network{Most: most, Runs: 1}}, func(_ context.Context, c *goBinding) error {
		faces := len(c.output) / (3 * size * size)
		for i := range faces {
			n(part(c.inputs[0], i, faces), part(c.inputs[1], i, faces), part(c.output, i, faces))
		}
		return nil
	})
}

// startTest makes an engine of a model that runs in Go.
func startTest(t testing.TB, m model, run func(ctx context.Context, c *goBinding) error) *Engine {
	t.Helper()
	m.Bind = func(_ context.Context, n int) (batch.Binding, error) {
		faces := n * m.size * m.size
		return &goBinding{[2][]float32{make([]float32, 6*faces), make([]float32, n*bands*columns)}, make([]float32, 3*faces), run}, nil
	}
	e, err := start(t.Context(), m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// part returns the i-th of n equal parts of x.
func part(x []float32, i, n int) []float32 { return x[i*len(x)/n : (i+1)*len(x)/n] }

// drawFrames draws frames with one head, and adds them to an analyser.
func drawFrames(t testing.TB, e *Engine, fps float64, width, height, frames int, head func(i int) facetest.Head) (render.Analyser, []*image.YCbCr) {
	t.Helper()
	a, err := e.Analyse(render.Video{Width: width, Height: height, FPS: fps})
	if err != nil {
		t.Fatal(err)
	}
	aligner, drawn := alignment.NewAligner(25), []*image.YCbCr{}
	for i := range frames {
		h := head(i)
		f := facetest.Frame(width, height, h)
		drawn = append(drawn, f)
		addAll(t, a, aligner.Add(tracked(f, h), false))
	}
	addAll(t, a, aligner.End())
	return a, drawn
}

// addAll adds aligned frames to an analyser.
func addAll(t testing.TB, a render.Analyser, aligned []alignment.Frame) {
	t.Helper()
	for _, f := range aligned {
		if err := a.Add(f); err != nil {
			t.Fatal(err)
		}
	}
}

// tracked returns the face of a drawn head as a tracker finds it: none if hardly any of it is in the frame.
func tracked(frame *image.YCbCr, h facetest.Head) []tracking.Face {
	crop := h.Crop(frame)
	if crop == nil {
		return nil
	}
	return []tracking.Face{{Track: 7, Face: detection.Face{Landmarks: h.Landmarks()}, Crop: crop}}
}

// plan returns the plan for a drawn head and a tone as long as the frames.
func plan(t testing.TB, a render.Analyser, fps float64, frames int) render.Painter {
	t.Helper()
	p, err := a.Plan(t.Context(), render.Output{
		Frames: frames, Source: func(output int) int { return output }, Speaker: func(int) int { return 7 },
		Samples: pcm(tone(int(float64(frames) / fps * 16000))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tone(n int) []int16 {
	samples := make([]int16, n)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(float64(i)/10))
	}
	return samples
}

// still is a head that hardly moves.
func still(i int) facetest.Head {
	return facetest.Head{X: 160 + float64(i%3)/3, Y: 120, Eyes: 60}
}

func clone(p *image.YCbCr) *image.YCbCr {
	c := *p
	c.Y, c.Cb, c.Cr = slices.Clone(p.Y), slices.Clone(p.Cb), slices.Clone(p.Cr)
	return &c
}
