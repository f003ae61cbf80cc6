package registration

import (
	"math/rand/v2"
	"testing"
)

func TestNCC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	picture, other, flat := make([]float32, 600), make([]float32, 600), make([]float32, 600)
	for i := range picture {
		picture[i], other[i], flat[i] = 90+70*r.Float32(), 90+70*r.Float32(), 120
	}
	change := func(gain, bias, noise float32) []float32 {
		out := make([]float32, len(picture))
		for i, v := range picture {
			out[i] = gain*v + bias + noise*float32(r.NormFloat64())
		}
		return out
	}
	for _, c := range []struct {
		name      string
		a, b      []float32
		want, off float32
	}{
		{"known values", []float32{1, 2, 3, 4}, []float32{1, 3, 2, 4}, .8, 1e-5},
		{"falling", []float32{1, 2, 3}, []float32{5, 3, 1}, -1, 1e-5},
		{"uncorrelated", []float32{1, 2, 1, 2}, []float32{1, 1, 2, 2}, 0, 1e-5},
		{"the same", picture, picture, 1, 1e-3},
		{"inverted", picture, change(-1, 255, 0), -1, 1e-3},
		{"brighter", picture, change(1, 60, 0), 1, 1e-3},
		{"darker, with less contrast", picture, change(.3, -20, 0), 1, 1e-3},
		{"with more contrast", picture, change(2.5, -100, 0), 1, 1e-3},
		{"noise as strong as the picture", picture, change(1, 0, 70/3.4641), .7071, .04},
		{"with nothing in common", picture, other, 0, .1},
		{"flat beside a picture", flat, picture, 0, .01},
		{"a picture beside flat", picture, flat, 0, .01},
		{"two flat pictures", flat, flat, 0, .01},
		{"two black pictures", make([]float32, 9), make([]float32, 9), 0, 0},
	} {
		if got := NCC(c.a, c.b); !(got >= c.want-c.off && got <= c.want+c.off) {
			t.Errorf("%s: got %.4f, want %.4f ± %g", c.name, got, c.want, c.off)
		}
	}
}
