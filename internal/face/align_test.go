package face

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"lipsync/internal/face/facetest"
)

// TestAlign moves the drawn head in known ways, gives landmarks that err by as
// much as those of the cascades, and asks for the moves back.
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
			var samples []Sample
			var want []Similarity
			for i := range frames {
				h := c.head(float64(i))
				samples, want = append(samples, sampleOf(h, noise)), append(want, placeOf(h))
			}
			var a Aligner
			got := a.Align(samples)
			// A later block of the same person fits to the first.
			got, want = append(got, a.Align(samples[frames/2:])...), append(want, want[frames/2:]...)
			if e := worst(got, want); e > c.most {
				t.Errorf("errs by up to %.2f pixels, want %.2f", e, c.most)
			}
		})
	}
}

// TestAlignOddSamples checks that nothing breaks where there is little to see.
func TestAlignOddSamples(t *testing.T) {
	noise := rand.New(rand.NewPCG(7, 8))
	one := sampleOf(facetest.Head{X: 160, Y: 130, Eyes: 60}, noise)
	blank := one
	blank.Pixels = Cut(facetest.Wall(320, 260), image.Rect(0, 0, 320, 260), 60)
	for name, samples := range map[string][]Sample{
		"one frame":                   {one},
		"nothing but a wall":          {blank, blank, blank},
		"an edge of it is in a frame": {one, {one.Points, Cut(facetest.Wall(320, 260), image.Rect(0, 0, 30, 30), 60)}},
	} {
		var a Aligner
		for i, to := range a.Align(samples) {
			eyes := Distance(to.Apply(canonicalLeft), to.Apply(canonicalRight))
			if !(eyes > 50 && eyes < 70) {
				t.Errorf("%s, frame %d: the pupils are %g pixels apart, want about 60", name, i, eyes)
			}
		}
	}
}

// sampleOf draws a head and gives it landmarks that are about right.
func sampleOf(h facetest.Head, noise *rand.Rand) (s Sample) {
	frame := facetest.Frame(320, 260, h)
	for k, p := range map[int]Point{
		LeftPupil: {-.5, 0}, RightPupil: {.5, 0}, LeftOuterEye: {-.75, .02}, RightOuterEye: {.75, .02},
		LeftInnerEye: {-.26, .02}, RightInnerEye: {.26, .02}, LeftBrow: {-.85, -.35}, RightBrow: {.85, -.35},
		Nose: {0, .62}, LeftCorner: {-.44, 1.11}, RightCorner: {.44, 1.11}, UpperLip: {0, 1.02}, LowerLip: {0, 1.28},
	} {
		x, y := h.At(float64(p.X), float64(p.Y))
		s.Points[k] = Point{float32(x), float32(y)}
	}
	for k := range s.Points { // in order, so that each run has the same noise
		s.Points[k].X += float32(1.2 * noise.NormFloat64())
		s.Points[k].Y += float32(1.2 * noise.NormFloat64())
	}
	s.Pixels = Cut(frame, frame.Rect, float32(h.Eyes))
	return s
}

// placeOf returns the similarity from the face's coordinates, as facetest has
// them, to the frame's.
func placeOf(h facetest.Head) Similarity {
	sin, cos := math.Sincos(h.Turn)
	return Similarity{float32(h.Eyes * cos), float32(h.Eyes * sin), float32(h.X), float32(h.Y)}
}

// worst returns by how many pixels some points of the face are off their mean
// place on it at worst: the same canonical place is to be the same on the face
// in all frames, whichever it is.
func worst(got, want []Similarity) (most float32) {
	for _, p := range []Point{{.7, .45}, {1.7, .45}, {1.2, 1.1}, {1.2, 1.6}} {
		places := make([]Point, len(got))
		for i := range got {
			places[i] = want[i].Inverse().Apply(got[i].Apply(p))
		}
		mean := centroid(places)
		if Distance(mean, Point{p.X - 1.2, p.Y - .45}) > .05 {
			return float32(math.Inf(1))
		}
		for i, q := range places {
			scale := float32(math.Hypot(float64(want[i].A), float64(want[i].B)))
			most = max(most, scale*Distance(q, mean))
		}
	}
	return most
}
