package face

import (
	"math/rand/v2"
	"testing"
)

// TestLikeness compares looks with the same one in another light, with a little
// noise, and with another one.
func TestLikeness(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	band := func(pixel func(x, y int) float32) *Look {
		a := Aligner{look: new(bandImage)}
		for i := range a.look {
			a.look[i] = pixel(i%bandWidth, i/bandWidth)
		}
		return a.Look()
	}
	blocks := func() func(x, y int) float32 {
		var grey [20][20]float32
		for i := range grey {
			for k := range grey[i] {
				grey[i][k] = 200 * r.Float32()
			}
		}
		return func(x, y int) float32 { return grey[y/6][x/6] }
	}
	one, two := blocks(), blocks()
	for _, c := range []struct {
		name        string
		look        *Look
		least, most float32
	}{
		{"itself", band(one), .999, 1.001},
		{"in half the light", band(func(x, y int) float32 { return 40 + one(x, y)/2 }), .999, 1.001},
		{"lit from a side", band(func(x, y int) float32 { return one(x, y) + 2*float32(x) }), .9, .999},
		{"grainy", band(func(x, y int) float32 { return one(x, y) + 20*r.Float32() }), .9, .999},
		{"another", band(two), -.3, .3},
		{"nothing", band(func(x, y int) float32 { return 90 }), -.01, .01},
	} {
		if got := band(one).Likeness(c.look); got < c.least || got > c.most {
			t.Errorf("%s: got %.4f, want %.3f to %.3f", c.name, got, c.least, c.most)
		}
	}
}
