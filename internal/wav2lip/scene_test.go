package wav2lip

import (
	"context"
	"image"
	"log/slog"
	"math"
	"slices"
	"testing"

	"lipsync/internal/face"
	"lipsync/internal/face/facetest"
	"lipsync/internal/render"
)

// painter is a network in Go: it paints one face at a time.
type painter func(face, sound, out []float32)

// asItIs paints the face that it is shown.
func asItIs(face, _, out []float32) { copy(out, face[len(face)/2:]) }

// canvas is a binding of a painter.
type canvas struct {
	inputs [2][]float32
	output []float32
	run    func(ctx context.Context, c *canvas) error
}

func (c *canvas) Input(i int) []float32         { return c.inputs[i] }
func (c *canvas) Output(int) []float32          { return c.output }
func (c *canvas) Run(ctx context.Context) error { return c.run(ctx, c) }
func (c *canvas) Close() error                  { return nil }

// newTestEngine makes an engine of a painter. It counts the faces of each run.
func newTestEngine(t testing.TB, size, batch int, p painter) *Engine {
	t.Helper()
	return startTest(t, model{faces: 0, sound: 1, size: size, batch: batch}, func(_ context.Context, c *canvas) error {
		n := len(c.output) / (3 * size * size)
		for i := range n {
			p(part(c.inputs[0], i, n), part(c.inputs[1], i, n), part(c.output, i, n))
		}
		return nil
	})
}

// inGo makes a model one that runs in Go.
func inGo(m model, run func(ctx context.Context, c *canvas) error) model {
	m.bind = func(_ context.Context, inputs, outputs [][]int) (binding, error) {
		c := &canvas{output: make([]float32, volume(outputs[0])), run: run}
		for i, shape := range inputs {
			c.inputs[i] = make([]float32, volume(shape))
		}
		return c, nil
	}
	return m
}

// startTest makes an engine of a model that runs in Go.
func startTest(t testing.TB, m model, run func(ctx context.Context, c *canvas) error) *Engine {
	t.Helper()
	m.runs = max(1, m.runs)
	e, err := start(t.Context(), inGo(m, run), slog.New(slog.DiscardHandler))
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

func volume(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// part returns the i-th of n equal parts.
func part(x []float32, i, n int) []float32 { return x[i*len(x)/n : (i+1)*len(x)/n] }

// shoot draws frames with one head, and has a session observe them.
func shoot(t testing.TB, e *Engine, fps float64, width, height, frames int, head func(i int) facetest.Head) (render.Session, []*image.YCbCr) {
	t.Helper()
	s, err := e.Begin(render.Video{Width: width, Height: height, FPS: fps})
	if err != nil {
		t.Fatal(err)
	}
	var film []*image.YCbCr
	for i := range frames {
		h := head(i)
		f := facetest.Frame(width, height, h)
		film = append(film, f)
		if err := s.Observe(i, f, []face.Face{{Track: 7, Points: landmarks(h)}}); err != nil {
			t.Fatal(err)
		}
	}
	return s, film
}

// plan has the drawn head say a tone for as long as the film is.
func plan(t testing.TB, s render.Session, fps float64, frames int) {
	t.Helper()
	err := s.Plan(t.Context(), render.Plan{
		Frames: frames, Source: func(output int) int { return output }, Speaker: func(int) int { return 7 },
		Samples: pcm(tone(int(float64(frames) / fps * 16000))),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func tone(n int) []int16 {
	samples := make([]int16, n)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(float64(i)/10))
	}
	return samples
}

// landmarks are where the face detector finds those of a drawn head.
func landmarks(h facetest.Head) (p face.Points) {
	for k, q := range [...][2]float64{
		face.LeftPupil: {-.5, 0}, face.RightPupil: {.5, 0},
		face.LeftOuterEye: {-.75, .02}, face.RightOuterEye: {.75, .02},
		face.LeftInnerEye: {-.26, .02}, face.RightInnerEye: {.26, .02},
		face.LeftBrow: {-.85, -.35}, face.RightBrow: {.85, -.35}, face.Nose: {0, .62},
		face.LeftCorner: {-.44, 1.11}, face.RightCorner: {.44, 1.11},
		face.UpperLip: {0, 1.02}, face.LowerLip: {0, 1.28 + h.Open},
	} {
		x, y := h.At(q[0], q[1])
		p[k] = face.Point{X: float32(x), Y: float32(y)}
	}
	return p
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
