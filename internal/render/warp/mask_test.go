package warp

import (
	"math"
	"math/rand/v2"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/facetest"
)

// TestMaskInVideo measures how far from the middle of the mouth pixels change, of a head that talks and of one at rest. In each frame
// the pixels are different, so that each pixel that is painted changes.
func TestMaskInVideo(t *testing.T) {
	for _, c := range []struct {
		name     string
		head     func(int) facetest.Head
		from, to float64 // v of the pixels that are looked at
	}{
		{"talking", talking, .75, 1.05}, // above the mouth, where nothing moves with the chin
		{"at rest", atRest, .75, 2.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &scene{}
			s.draw(0, 60, c.head)
			r := rand.New(rand.NewPCG(1, 2))
			for _, f := range s.frames {
				for i := range f.Y {
					f.Y[i] = uint8(min(max(int(f.Y[i])+r.IntN(9)-4, 0), 255))
				}
			}
			reached := func(m order.Mask) (places int, far float64) {
				s.mask = m
				_, p := s.plan(t, openIn(60, true, true, true))
				for _, i := range []int{20, 25, 30} {
					h, shown := c.head(i), s.show(t, p, i)
					for v := c.from; v < c.to; v += .01 {
						for u := -1.3; u < 1.3; u += .01 {
							x, y := h.At(u, v)
							if k := shown.YOffset(int(x+.5), int(y+.5)); shown.Y[k] != s.frames[i].Y[k] {
								far = max(far, math.Abs(u))
								places++
							}
						}
					}
				}
				return places, far
			}
			usual, far := reached(order.Mask{})
			large, farther := reached(order.Mask{Expand: 250})
			small, nearer := reached(order.Mask{Expand: -150})
			if !(30*small < 29*usual && 11*usual < 10*large) {
				t.Errorf("%d places change, %d of a small region, %d of a large one", usual, small, large)
			}
			if !(nearer <= far && far+.04 < farther && farther < 1.3*far+.04) {
				t.Errorf("places change up to %.2f from the middle, in a small region up to %.2f, in a large one up to %.2f", far, nearer, farther)
			}
		})
	}
}
