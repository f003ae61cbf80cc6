package neural

import (
	"image"
	"math"

	"lipsync/internal/domain/order"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The mask on the canonical face, at its usual size, is a superellipse. It reaches from the base of the nose down to the chin of an open mouth.
// Lengths are canonical. They were chosen by eye, as all constants of painting here that have no other reason.
const (
	maskX, maskY               = 1.2, 1.64 // its centre
	maskHalf, maskTall         = .82, .6   // half its width and height
	maskPower          float32 = 3         // its exponent
	maskSoft           float32 = .3        // width of its soft edge, as a share of the way to the centre
	maskInside                 = .01       // it stays so far within the hidden half of the view, where the network paints: its lower edge does so at its usual size
	ringBottom                 = 1.5       // colours are compared above this y, since the chin may have moved below it
)

// mask is the part of a view that is painted. Lengths are canonical.
type mask struct {
	left, right, top, bottom float32   // from its centre to its edges
	opacity                  []float32 // of each pixel of the view, 0 to 1
	ring                     []float32 // of each pixel of the view: its weight in the match of colours
}

// newMask returns the mask of a view. The weights in ring are 1 where the mask is a half if its soft edge has
// the usual width. They are 0 where it is 0 or 1, and below ringBottom.
func newMask(v View, o order.Mask) *mask {
	grow, soft := o.Edge(maskSoft)
	m := &mask{
		left: min(maskHalf*grow, float32(maskX-v.Left-maskInside)), right: min(maskHalf*grow, float32(v.Right-maskInside-maskX)),
		top: min(maskTall*grow, float32(maskY-v.middle()-maskInside)), bottom: min(maskTall*grow, float32(v.Bottom-maskInside-maskY)),
		opacity: make([]float32, v.Size*v.Size), ring: make([]float32, v.Size*v.Size),
	}
	for i := range m.opacity {
		c := v.place(float32(i%v.Size)+.5, float32(i/v.Size)+.5)
		d := m.distance(c)
		m.opacity[i] = smoothstep((1 - d) / soft)
		if usual := smoothstep((1 - d) / maskSoft); c.Y < ringBottom {
			m.ring[i] = 4 * usual * (1 - usual)
		}
	}
	return m
}

// distance returns how far a canonical place is on the way from the centre of the mask, 0, to its edge, 1.
func (m *mask) distance(c geom.Point) float32 {
	half, tall := m.left, m.top
	if c.X > maskX {
		half = m.right
	}
	if c.Y > maskY {
		tall = m.bottom
	}
	return pow(pow(abs(c.X-maskX)/half, maskPower)+pow(abs(c.Y-maskY)/tall, maskPower), 1/maskPower)
}

// area returns the rectangle of the frame that holds the mask.
func (m *mask) area(onto geom.Similarity) image.Rectangle {
	c := onto.Apply(geom.Point{X: maskX + (m.right-m.left)/2, Y: maskY + (m.bottom-m.top)/2})
	half, tall := (m.left+m.right)/2, (m.top+m.bottom)/2
	aside := abs(onto.A)*half + abs(onto.B)*tall // of the turned rectangle around the mask
	above := abs(onto.B)*half + abs(onto.A)*tall
	return pixels.Even(image.Rect(int(c.X-aside)-1, int(c.Y-above)-1, int(c.X+aside)+2, int(c.Y+above)+2))
}

// smoothstep returns a smooth step from 0 at 0 to 1 at 1.
func smoothstep(t float32) float32 {
	t = min(max(t, 0), 1)
	return t * t * (3 - 2*t)
}

func pow(x, e float32) float32 { return float32(math.Pow(float64(x), float64(e))) }
