package alignment

import (
	"math"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
	"lipsync/internal/registration"
)

// In pixels of the band: where it has the lower nose and the philtrum, and how
// far from there they are looked for.
const (
	noseLeft, noseTop     = 19, 29
	noseWidth, noseHeight = 33, 19
	noseReach             = 10
)

// carry is how many times as far as the nose the mouth moves against the eyes
// when the head tilts or turns. In a clip of a head that does both, the lips of a
// face mesh moved 1.16 to 1.25 times as far, up and down as sideways.
const carry = 1.2

// shifts tells how far the mouth is from its usual place on the canonical face in
// each of consecutive samples that align has aligned. A head that tilts or turns
// moves its nose against the eyes, and the mouth with it. The usual place is that
// in the first samples, for all later ones too.
func (m *model) shifts(samples []sample, to []geom.Similarity) []geom.Point {
	x, y := make([]float32, len(samples)), make([]float32, len(samples))
	if m.nose == nil {
		m.nose = newNose(m.band.Pix)
	}
	each(len(samples), func(i int) {
		p := m.nose.find(samples[i].crop, to[i])
		x[i], y[i] = p.X, p.Y
	})
	cuts := jumps(samples)
	filter(x, cuts, 3, .7)
	filter(y, cuts, 3, .7)
	out := make([]geom.Point, len(samples))
	for i := range out {
		out[i] = geom.Point{X: carry * x[i], Y: carry * y[i]}
	}
	return out
}

// nose is a template: the nose of a band less its mean, scaled to length 1.
type nose [noseWidth * noseHeight]float32

func newNose(pix []float32) *nose {
	t := new(nose)
	mean := meanOf(pix, noseLeft, noseTop, noseLeft+noseWidth-1, noseTop+noseHeight-1)
	var sum float32
	for i := range t {
		t[i] = pix[(noseTop+i/noseWidth)*band.Width+noseLeft+i%noseWidth] - mean
		sum += t[i] * t[i]
	}
	for i := range t {
		t[i] /= float32(math.Sqrt(float64(sum + 1)))
	}
	return t
}

// surroundings is the part of a frame in which a nose is looked for.
type surroundings [(noseHeight + 2*noseReach) * surroundingsWidth]float32

const surroundingsWidth = noseWidth + 2*noseReach

// noseGrid is where the surroundings lie.
var noseGrid = registration.Grid{
	Left: band.Left + (noseLeft-noseReach)/band.Scale, Top: band.Top + (noseTop-noseReach)/band.Scale, Scale: band.Scale,
	Width: surroundingsWidth, Height: noseHeight + 2*noseReach,
}

// find returns the shift, canonical, at which a frame is most like the template.
func (t *nose) find(c *pixels.Crop, to geom.Similarity) geom.Point {
	const least = .5 // match: with less the nose is hidden
	var s surroundings
	noseGrid.Sample(s[:], c, to)
	x, y := t.best(&s, 0, 0, noseReach-1, 3)
	x, y = t.best(&s, x, y, 1, 1)
	most := t.match(&s, x, y)
	if most < least || max(x, -x, y, -y) == noseReach {
		return geom.Point{}
	}
	return geom.Point{
		X: (float32(x) + peak(t.match(&s, x-1, y), most, t.match(&s, x+1, y))) / band.Scale,
		Y: (float32(y) + peak(t.match(&s, x, y-1), most, t.match(&s, x, y+1))) / band.Scale,
	}
}

// best returns the best match of the shifts around one, as far as that, in steps.
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

// match returns the normalised correlation at a shift in pixels, a little
// less for what is farther from the usual place.
func (t *nose) match(s *surroundings, x, y int) float32 {
	const n, farther = noseWidth * noseHeight, .0005 // by squared pixel
	var sum, squares, product float32
	for r := range noseHeight {
		row := s[(noseReach+y+r)*surroundingsWidth+noseReach+x:][:noseWidth]
		for k, v := range t[r*noseWidth:][:noseWidth] {
			sum += row[k]
			squares += row[k] * row[k]
			product += row[k] * v
		}
	}
	deviation := max(squares-sum*sum/n, n) // what varies by less than a grey level is nothing
	return product/float32(math.Sqrt(float64(deviation))) - farther*float32(x*x+y*y)
}

// peak returns where the parabola through three values at -1, 0 and 1, the
// highest in the middle, has its top.
func peak(before, at, after float32) float32 {
	if bend := before - 2*at + after; bend < 0 {
		return (before - after) / (2 * bend)
	}
	return 0
}
