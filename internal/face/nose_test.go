package face

import (
	"image"
	"math/rand/v2"
	"testing"

	"lipsync/internal/face/facetest"
)

// TestNoses tilts the drawn head in some of its frames and asks by how much.
func TestNoses(t *testing.T) {
	for _, eyes := range []float64{40, 60, 130} {
		noise := rand.New(rand.NewPCG(5, 6))
		var samples []Sample
		var tilts []float64
		for i := range 40 {
			tilt := 0.
			if i >= 30 {
				tilt = .04 * float64(i/3-11) // -.04 to .08
			}
			h := facetest.Head{X: 160, Y: 80, Eyes: eyes, Tilt: tilt}
			samples, tilts = append(samples, sampleOf(h, noise)), append(tilts, tilt)
		}
		var a Aligner
		to := a.Align(samples)
		noses := a.Noses(samples, to)
		// A later block of the same person is compared with the first.
		later := a.Align(samples[36:])
		to, noses = append(to, later...), append(noses, a.Noses(samples[36:], later)...)
		tilts = append(tilts, tilts[36:]...)
		for i, nose := range noses {
			x, y := facetest.Head{X: 160, Y: 80, Eyes: eyes, Tilt: tilts[i]}.At(0, .6)
			want := to[i].Inverse().Apply(Point{float32(x), float32(y)})
			if e := Distance(Point{1.2 + nose.X, 1.05 + nose.Y}, want); e > .03 {
				t.Errorf("%g pixels, frame %d, tilted by %.2f: got %+v, %.3f off", eyes, i, tilts[i], nose, e)
			}
		}
	}
}

// TestNosesHidden checks that what isn't a nose is nowhere but at its usual place.
func TestNosesHidden(t *testing.T) {
	noise := rand.New(rand.NewPCG(7, 8))
	var samples []Sample
	for range 12 {
		samples = append(samples, sampleOf(facetest.Head{X: 160, Y: 130, Eyes: 60}, noise))
	}
	var a Aligner
	to := a.Align(samples)
	for name, p := range map[string]*Picture{
		"a wall":        Cut(facetest.Wall(320, 260), image.Rect(0, 0, 320, 260), 60),
		"the edge only": Cut(facetest.Wall(320, 260), image.Rect(0, 0, 30, 30), 60),
	} {
		for i := range samples {
			samples[i].Pixels = p
		}
		for i, got := range a.Noses(samples, to) {
			if got != (Point{}) {
				t.Errorf("%s, frame %d: got %+v, want no shift", name, i, got)
			}
		}
	}
}
