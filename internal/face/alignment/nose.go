package alignment

import (
	"math"

	"lipsync/internal/face/registration"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/parallel"
	"lipsync/internal/signal/pixels"
)

// These are the place of the lower nose and the philtrum in the band, and the largest distance from it at
// which they are searched for: a fifth of the distance of the pupils. All are in pixels of the band.
const (
	noseLeft, noseTop     = 19, 29
	noseWidth, noseHeight = 33, 19
	noseReach             = 10
)

const (
	// When the head tilts or turns, the nose moves against the eyes, and the mouth moves carry times as
	// far. In a clip of a head that does both, the lips of a face mesh moved 1.16 to 1.25 times as far,
	// both up and down and sideways.
	carry = 1.2

	leastNose = .5    // NCC of a nose that is seen, at least: a smaller one means that it is hidden; by eye
	noseOff   = .0005 // the NCC is lowered by this for each squared pixel from the usual place; by eye
	noseStep  = 3     // pixels from place to place in the first search
)

// shifts returns the distance of the mouth from its usual place in each of consecutive samples, canonical.
// to are the similarities that align returned. A head that tilts or turns moves its nose against the eyes,
// and the mouth with it. The usual place is that in the first samples, for all later ones too.
func (m *reference) shifts(samples []sample, to []geom.Similarity) []geom.Point {
	x, y := make([]float32, len(samples)), make([]float32, len(samples))
	if m.nose == nil {
		m.nose = newNose(m.band.Pix)
	}
	parallel.Each(len(samples), func(i int) {
		p := m.nose.find(samples[i].crop, to[i])
		x[i], y[i] = p.X, p.Y
	})
	cuts := jumps(samples)
	between(x, cuts, placeFilter.steady)
	between(y, cuts, placeFilter.steady)
	out := make([]geom.Point, len(samples))
	for i := range out {
		out[i] = geom.Point{X: carry * x[i], Y: carry * y[i]}
	}
	return out
}

// nose is a template: the part of a band with the nose, less its mean, scaled to length 1.
type nose [noseWidth * noseHeight]float32

// newNose returns the nose in the pixels of a band.
func newNose(pix []float32) *nose {
	t := new(nose)
	mean := meanOf(pix, noseLeft, noseTop, noseLeft+noseWidth-1, noseTop+noseHeight-1)
	var sum float32
	for i := range t {
		t[i] = pix[(noseTop+i/noseWidth)*Band.Width+noseLeft+i%noseWidth] - mean
		sum += t[i] * t[i]
	}
	for i := range t {
		t[i] /= float32(math.Sqrt(float64(sum + 1)))
	}
	return t
}

// surroundings is the part of a frame in which a nose is searched for.
type surroundings [(noseHeight + 2*noseReach) * surroundingsWidth]float32

const surroundingsWidth = noseWidth + 2*noseReach

// noseGrid is the grid of the surroundings on the canonical face.
var noseGrid = registration.Grid{
	Left: Band.Left + (noseLeft-noseReach)/Band.Scale, Top: Band.Top + (noseTop-noseReach)/Band.Scale, Scale: Band.Scale,
	Width: surroundingsWidth, Height: noseHeight + 2*noseReach,
}

// find returns the shift at which a frame is most like the template, canonical. It is 0 if the nose is
// hidden, or farther away than noseReach.
func (t *nose) find(c *pixels.Crop, to geom.Similarity) geom.Point {
	var s surroundings
	noseGrid.Sample(s[:], c, to)
	x, y := t.best(&s, 0, 0, noseReach-1, noseStep)
	x, y = t.best(&s, x, y, 1, 1)
	most := t.match(&s, x, y)
	if most < leastNose || max(x, -x, y, -y) == noseReach {
		return geom.Point{}
	}
	return geom.Point{
		X: (float32(x) + peak(t.match(&s, x-1, y), most, t.match(&s, x+1, y))) / Band.Scale,
		Y: (float32(y) + peak(t.match(&s, x, y-1), most, t.match(&s, x, y+1))) / Band.Scale,
	}
}

// best returns the shift of the best match. It tries shifts up to far pixels from (x0, y0) in each
// direction, step pixels apart.
func (t *nose) best(s *surroundings, x0, y0, far, step int) (x, y int) {
	most := float32(-2)
	for dy := -far; dy <= far; dy += step {
		for dx := -far; dx <= far; dx += step {
			if v := t.match(s, x0+dx, y0+dy); v > most {
				x, y, most = x0+dx, y0+dy, v
			}
		}
	}
	return x, y
}

// match returns the NCC at a shift in pixels, lowered by noseOff for its distance.
func (t *nose) match(s *surroundings, x, y int) float32 {
	const n = noseWidth * noseHeight
	var sum, squares, product float32
	for r := range noseHeight {
		row := s[(noseReach+y+r)*surroundingsWidth+noseReach+x:][:noseWidth]
		for k, v := range t[r*noseWidth:][:noseWidth] {
			sum += row[k]
			squares += row[k] * row[k]
			product += row[k] * v
		}
	}
	deviation := max(squares-sum*sum/n, n) // differences of less than a grey level show nothing
	return product/float32(math.Sqrt(float64(deviation))) - noseOff*float32(x*x+y*y)
}

// peak returns the place of the top of the parabola through three values, at -1, 0 and 1. The value in the
// middle has to be the highest.
func peak(before, at, after float32) float32 {
	if bend := before - 2*at + after; bend < 0 {
		return (before - after) / (2 * bend)
	}
	return 0
}
