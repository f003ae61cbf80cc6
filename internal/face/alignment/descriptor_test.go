package alignment

import (
	"math/rand/v2"
	"testing"

	"lipsync/internal/face/registration"
)

// TestDescriptors compares descriptors with the same one in another light, with a little
// noise, and with another one.
func TestDescriptors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	of := func(pixel func(x, y int) float32) descriptor {
		pix := make([]float32, Band.Width*Band.Height)
		for i := range pix {
			pix[i] = pixel(i%Band.Width, i/Band.Width)
		}
		m := reference{band: registration.NewTemplate(Band, pix)}
		return m.descriptor()
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
		seen        descriptor
		least, most float32
	}{
		{"itself", of(one), .999, 1.001},
		{"in half the light", of(func(x, y int) float32 { return 40 + one(x, y)/2 }), .999, 1.001},
		{"lit from a side", of(func(x, y int) float32 { return one(x, y) + 2*float32(x) }), .9, .999},
		{"grainy", of(func(x, y int) float32 { return one(x, y) + 20*r.Float32() }), .9, .999},
		{"another", of(two), -.3, .3},
		{"nothing", of(func(x, y int) float32 { return 90 }), -.01, .01},
	} {
		if got := of(one).similarity(c.seen); got < c.least || got > c.most {
			t.Errorf("%s: got %.4f, want %.3f to %.3f", c.name, got, c.least, c.most)
		}
	}
}
