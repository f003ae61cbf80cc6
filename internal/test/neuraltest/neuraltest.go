// Package neuraltest is for tests of engines with networks that paint faces: networks in Go, and a drawn head that an engine
// paints on.
package neuraltest

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"io"
	"math"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/network/batch"
	"lipsync/internal/render/engine"
	"lipsync/internal/test/facetest"
)

// Network is a network in Go, which paints one face.
type Network func(pictures, sound, out []float32)

// AsItIs paints the face of its input.
func AsItIs(pictures, _, out []float32) { copy(out, pictures[len(pictures)/2:]) }

// Bind returns the memory of runs of a number of faces, whose pictures are of size × size pixels and whose sound has so many
// numbers.
func (n Network) Bind(size, sound, faces int) batch.Binding {
	return &Binding{
		Pictures: make([]float32, 6*faces*size*size), Sound: make([]float32, faces*sound), Out: make([]float32, 3*faces*size*size),
		Do: func(_ context.Context, b *Binding) error {
			for i := range faces {
				n(part(b.Pictures, i, faces), part(b.Sound, i, faces), part(b.Out, i, faces))
			}
			return nil
		},
	}
}

// Binding is the memory of runs of a network in Go.
type Binding struct {
	Pictures, Sound, Out []float32
	Do                   func(context.Context, *Binding) error
}

var _ batch.Binding = (*Binding)(nil)

func (b *Binding) Input(i int) []float32         { return [][]float32{b.Pictures, b.Sound}[i] }
func (b *Binding) Output(int) []float32          { return b.Out }
func (b *Binding) Run(ctx context.Context) error { return b.Do(ctx, b) }
func (b *Binding) Close() error                  { return nil }

// part returns the i-th of n equal parts of x.
func part(x []float32, i, n int) []float32 { return x[i*len(x)/n : (i+1)*len(x)/n] }

// Draw draws frames with one head, and adds them to an analyser.
func Draw(t testing.TB, e engine.Engine, fps float64, width, height, frames int, head func(i int) facetest.Head) (engine.Analyser, []*image.YCbCr) {
	t.Helper()
	a, err := e.Analyse(engine.Video{Width: width, Height: height, FPS: fps})
	if err != nil {
		t.Fatal(err)
	}
	aligner, drawn := alignment.NewAligner(25), []*image.YCbCr{}
	for i := range frames {
		h := head(i)
		f := facetest.Frame(width, height, h)
		drawn = append(drawn, f)
		AddAll(t, a, aligner.Add(Tracked(f, h), false))
	}
	AddAll(t, a, aligner.End())
	return a, drawn
}

// AddAll adds aligned frames to an analyser.
func AddAll(t testing.TB, a engine.Analyser, aligned []alignment.Frame) {
	t.Helper()
	for _, f := range aligned {
		if err := a.Add(f); err != nil {
			t.Fatal(err)
		}
	}
}

// Track is the track of the drawn head.
const Track = 7

// Tracked returns the face of a drawn head as a tracker finds it: none if hardly any of it is in the frame.
func Tracked(frame *image.YCbCr, h facetest.Head) []tracking.Face {
	crop := h.Crop(frame)
	if crop == nil {
		return nil
	}
	return []tracking.Face{{Track: Track, Face: detection.Face{Landmarks: h.Landmarks()}, Crop: crop}}
}

// Plan returns the plan for a drawn head and a tone as long as the frames.
func Plan(t testing.TB, a engine.Analyser, fps float64, frames int) engine.Painter {
	t.Helper()
	p, err := a.Plan(t.Context(), engine.Output{
		Frames: frames, Source: func(output int) int { return output }, Speaker: func(int) int { return Track },
		Samples: PCM(Tone(int(float64(frames) / fps * 16000))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Mouth returns the one mouth that a painter paints on a frame.
func Mouth(t testing.TB, p engine.Painter, output int, frame *image.YCbCr) engine.Mouth {
	t.Helper()
	mouths, err := p.Paint(t.Context(), output, frame)
	if err != nil {
		t.Fatal(err)
	}
	if len(mouths) != 1 {
		t.Fatalf("%d mouths, want 1", len(mouths))
	}
	return mouths[0]
}

// PSNR compares the luma under a mouth's mask with the frame's, in dB.
func PSNR(frame *image.YCbCr, m engine.Mouth) float64 {
	var sum, n float64
	for y := m.Mask.Rect.Min.Y; y < m.Mask.Rect.Max.Y; y++ {
		for x := m.Mask.Rect.Min.X; x < m.Mask.Rect.Max.X; x++ {
			if m.Mask.AlphaAt(x, y).A == 0 {
				continue
			}
			d := float64(m.Image.Y[m.Image.YOffset(x, y)]) - float64(frame.Y[frame.YOffset(x, y)])
			sum += d * d
			n++
		}
	}
	return 10 * math.Log10(255*255/(sum/n+1e-9))
}

// Tone returns n samples of a tone.
func Tone(n int) []int16 {
	samples := make([]int16, n)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(float64(i)/10))
	}
	return samples
}

// PCM returns a sound of samples.
func PCM(samples []int16) *io.SectionReader {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, samples)
	return io.NewSectionReader(bytes.NewReader(b.Bytes()), 0, int64(b.Len()))
}

// Still is a head that hardly moves.
func Still(i int) facetest.Head {
	return facetest.Head{X: 160 + float64(i%3)/3, Y: 120, Eyes: 60}
}
