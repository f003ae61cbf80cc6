package alignment

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

// TestAlign moves the drawn head in known ways, and gives landmarks that err by a pixel or two. The similarities must be those of the movements.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		name string
		most float32 // error, pixels
		head func(i float64) facetest.Head
	}{
		{"still", .1, func(float64) facetest.Head { return facetest.Head{X: 160, Y: 130, Eyes: 60} }},
		{"moving", .4, func(i float64) facetest.Head { return facetest.Head{X: 120 + 3*i, Y: 130 + i/2, Eyes: 60} }},
		{"growing", .2, func(i float64) facetest.Head { return facetest.Head{X: 160, Y: 130, Eyes: 52 + i/2} }},
		{"nodding", .3, func(i float64) facetest.Head {
			return facetest.Head{X: 160 + 6*math.Sin(i/4), Y: 130 + 4*math.Sin(i/3), Eyes: 60, Turn: .1 * math.Sin(i/5)}
		}},
		{"shaking", 1, func(i float64) facetest.Head {
			return facetest.Head{X: 160, Y: 130 + 14*math.Sin(2*math.Pi*i/11), Eyes: 60}
		}},
		{"jerking", 1.5, func(i float64) facetest.Head {
			return facetest.Head{X: 145 + 6*min(max(i-10, 0), 3), Y: 130, Eyes: 60}
		}},
		{"speaking", .2, func(i float64) facetest.Head {
			return facetest.Head{X: 160, Y: 130, Eyes: 60, Open: .15 + .15*math.Sin(i)}
		}},
		{"larger than its soft picture", .4, func(i float64) facetest.Head {
			return facetest.Head{X: 160 + i, Y: 130, Eyes: 130, Turn: .1}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const frames = 24
			noise := rand.New(rand.NewPCG(5, 6))
			var samples []sample
			var want []geom.Similarity
			for i := range frames {
				h := c.head(float64(i))
				samples, want = append(samples, sampleOf(h, noise)), append(want, placeOf(h))
			}
			var m reference
			got := m.align(samples)
			// A later block of the same person fits to the first.
			got, want = append(got, m.align(samples[frames/2:])...), append(want, want[frames/2:]...)
			if e := worst(got, want); e > c.most {
				t.Errorf("errs by up to %.2f pixels, want %.2f", e, c.most)
			}
		})
	}
}

// TestAlignOddSamples aligns samples that show hardly a face. There must be no fault.
func TestAlignOddSamples(t *testing.T) {
	noise := rand.New(rand.NewPCG(7, 8))
	one := sampleOf(facetest.Head{X: 160, Y: 130, Eyes: 60}, noise)
	blank := one
	blank.crop = pixels.NewCrop(facetest.Wall(320, 260), image.Rect(0, 0, 320, 260), 60)
	for name, samples := range map[string][]sample{
		"one frame":                   {one},
		"nothing but a wall":          {blank, blank, blank},
		"an edge of it is in a frame": {one, {Face: one.Face, crop: pixels.NewCrop(facetest.Wall(320, 260), image.Rect(0, 0, 30, 30), 60)}},
	} {
		var m reference
		for i, to := range m.align(samples) {
			eyes := geom.Distance(to.Apply(canonicalLeft), to.Apply(canonicalRight))
			if !(eyes > 50 && eyes < 70) {
				t.Errorf("%s, frame %d: the pupils are %g pixels apart, want about 60", name, i, eyes)
			}
		}
	}
}

// sampleOf draws a head and gives it landmarks that are about right.
func sampleOf(h facetest.Head, noise *rand.Rand) (s sample) {
	frame := facetest.Frame(320, 260, h)
	s.Landmarks = h.Landmarks()
	for _, k := range detection.Rigid() { // the only ones that alignment goes by
		s.Landmarks[k].X += float32(1.2 * noise.NormFloat64())
		s.Landmarks[k].Y += float32(1.2 * noise.NormFloat64())
	}
	s.crop = pixels.NewCrop(frame, frame.Rect, float32(h.Eyes))
	return s
}

// placeOf returns the similarity from the face's coordinates, as facetest has
// them, to the frame's.
func placeOf(h facetest.Head) geom.Similarity {
	sin, cos := math.Sincos(h.Turn)
	return geom.Similarity{A: float32(h.Eyes * cos), B: float32(h.Eyes * sin), X: float32(h.X), Y: float32(h.Y)}
}

// worst returns the largest distance, in pixels, of some points of the face from their mean
// place on it. A canonical place has to be at the same place of the face in all frames, no
// matter which place that is.
func worst(got, want []geom.Similarity) (most float32) {
	for _, p := range []geom.Point{{X: .7, Y: .45}, {X: 1.7, Y: .45}, {X: 1.2, Y: 1.1}, {X: 1.2, Y: 1.6}} {
		places := make([]geom.Point, len(got))
		for i := range got {
			places[i] = want[i].Inverse().Apply(got[i].Apply(p))
		}
		mean := geom.Centroid(places...)
		if geom.Distance(mean, geom.Point{X: p.X - 1.2, Y: p.Y - .45}) > .05 {
			return float32(math.Inf(1))
		}
		for i, q := range places {
			scale := float32(math.Hypot(float64(want[i].A), float64(want[i].B)))
			most = max(most, scale*geom.Distance(q, mean))
		}
	}
	return most
}
