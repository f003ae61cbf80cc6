package alignment

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

// TestShifts tilts the drawn head in some of its frames, and compares the shifts with that.
func TestShifts(t *testing.T) {
	for _, eyes := range []float64{40, 60, 130} {
		noise := rand.New(rand.NewPCG(5, 6))
		var samples []sample
		var tilts []float64
		for i := range 40 {
			tilt := 0.
			if i >= 30 {
				tilt = .04 * float64(i/3-11) // -.04 to .08
			}
			h := facetest.Head{X: 160, Y: 80, Eyes: eyes, Tilt: tilt}
			samples, tilts = append(samples, sampleOf(h, noise)), append(tilts, tilt)
		}
		var m reference
		to := m.align(samples)
		noses := m.shifts(samples, to)
		// A later block of the same person is compared with the first.
		later := m.align(samples[36:])
		to, noses = append(to, later...), append(noses, m.shifts(samples[36:], later)...)
		tilts = append(tilts, tilts[36:]...)
		for i, nose := range noses {
			x, y := facetest.Head{X: 160, Y: 80, Eyes: eyes, Tilt: tilts[i]}.At(0, .6)
			want := to[i].Inverse().Apply(geom.Point{X: float32(x), Y: float32(y)})
			if e := geom.Distance(geom.Point{X: 1.2 + nose.X/carry, Y: 1.05 + nose.Y/carry}, want); e > .03 {
				t.Errorf("%g pixels, frame %d, tilted by %.2f: got %+v, %.3f off", eyes, i, tilts[i], nose, e)
			}
		}
	}
}

// TestNodding nods the drawn head three times a second. As the mouth carries it, the base of the nose stays where it is.
func TestNodding(t *testing.T) {
	noise := rand.New(rand.NewPCG(9, 10))
	a, heads := NewAligner(25), make([]facetest.Head, 60)
	var got []Frame
	for i := range heads {
		heads[i] = facetest.Head{X: 160, Y: 100, Eyes: 60, Tilt: .1 * math.Sin(2*math.Pi*float64(i)/8)}
		face := tracked(0, heads[i], noise)
		face.Landmarks[detection.NoseBase].Y += float32(1.2 * noise.NormFloat64())
		got = append(got, a.Add([]tracking.Face{face}, false)...)
	}
	for i, f := range append(got, a.End()...) {
		base := f.Faces[0].Landmarks[detection.NoseBase]
		if want := (geom.Point{X: Middle.X, Y: Middle.Y + .74}); geom.Distance(base, want) > .045 {
			t.Errorf("frame %d, tilted by %.2f: the base of the nose is at %.3f, want %.3f", i, heads[i].Tilt, base, want)
		}
	}
}

// TestShiftsHidden checks that a hidden nose counts as one at its usual place.
func TestShiftsHidden(t *testing.T) {
	noise := rand.New(rand.NewPCG(7, 8))
	var samples []sample
	for range 12 {
		samples = append(samples, sampleOf(facetest.Head{X: 160, Y: 130, Eyes: 60}, noise))
	}
	var m reference
	to := m.align(samples)
	for name, p := range map[string]*pixels.Crop{
		"a wall":        pixels.NewCrop(facetest.Wall(320, 260), image.Rect(0, 0, 320, 260), 60),
		"the edge only": pixels.NewCrop(facetest.Wall(320, 260), image.Rect(0, 0, 30, 30), 60),
	} {
		for i := range samples {
			samples[i].crop = p
		}
		for i, got := range m.shifts(samples, to) {
			if got != (geom.Point{}) {
				t.Errorf("%s, frame %d: got %+v, want no shift", name, i, got)
			}
		}
	}
}
