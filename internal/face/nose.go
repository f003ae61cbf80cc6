package face

import "math"

// In pixels of the band: where it has the lower nose and the philtrum, and how
// far from there they are looked for.
const (
	noseLeft, noseTop     = 19, 29
	noseWidth, noseHeight = 33, 19
	noseReach             = 10
)

// Noses tells how far the nose is from its usual place on the canonical face in
// each of consecutive samples that Align has aligned. A head that tilts or turns
// moves it against the eyes, and the mouth with it: no similarity can tell. The
// usual place is that in the first samples, for all later ones too.
func (a *Aligner) Noses(samples []Sample, to []Similarity) []Point {
	x, y := make([]float32, len(samples)), make([]float32, len(samples))
	if a.nose == nil {
		a.nose = newNoseTemplate(a.look)
	}
	each(len(samples), func(i int) {
		p := a.nose.find(samples[i].Pixels, to[i])
		x[i], y[i] = p.X, p.Y
	})
	cuts := jumps(samples)
	filter(x, cuts, 3, .7)
	filter(y, cuts, 3, .7)
	out := make([]Point, len(samples))
	for i := range out {
		out[i] = Point{x[i], y[i]}
	}
	return out
}

// noseTemplate is the nose of a band less its mean, scaled to length 1.
type noseTemplate [noseWidth * noseHeight]float32

func newNoseTemplate(look *bandImage) *noseTemplate {
	t := new(noseTemplate)
	mean := look.mean(noseLeft, noseTop, noseLeft+noseWidth-1, noseTop+noseHeight-1)
	var sum float32
	for i := range t {
		t[i] = look[(noseTop+i/noseWidth)*bandWidth+noseLeft+i%noseWidth] - mean
		sum += sq(t[i])
	}
	for i := range t {
		t[i] /= float32(math.Sqrt(float64(sum + 1)))
	}
	return t
}

// surroundings is the part of a frame in which a nose is looked for.
type surroundings [(noseHeight + 2*noseReach) * surroundingsWidth]float32

const surroundingsWidth = noseWidth + 2*noseReach

// find returns the shift, canonical, at which a frame is most like the template.
func (t *noseTemplate) find(p *Picture, to Similarity) Point {
	const alike = .5 // least likeness: with less the nose is hidden
	var s surroundings
	for i := range s {
		x, y := noseLeft-noseReach+i%surroundingsWidth, noseTop-noseReach+i/surroundingsWidth
		s[i] = p.Soft(to.Apply(Point{bandLeft + (float32(x)+.5)/bandScale, bandTop + (float32(y)+.5)/bandScale}))
	}
	x, y := t.best(&s, 0, 0, noseReach-1, 3)
	x, y = t.best(&s, x, y, 1, 1)
	most := t.likeness(&s, x, y)
	if most < alike || max(x, -x, y, -y) == noseReach {
		return Point{}
	}
	return Point{
		(float32(x) + peak(t.likeness(&s, x-1, y), most, t.likeness(&s, x+1, y))) / bandScale,
		(float32(y) + peak(t.likeness(&s, x, y-1), most, t.likeness(&s, x, y+1))) / bandScale,
	}
}

// best returns the likest of the shifts around one, as far as that, in steps.
func (t *noseTemplate) best(s *surroundings, x0, y0, far, step int) (x, y int) {
	most := float32(-2)
	for dy := -far; dy <= far; dy += step {
		for dx := -far; dx <= far; dx += step {
			if v := t.likeness(s, x0+dx, y0+dy); v > most {
				x, y, most = x0+dx, y0+dy, v
			}
		}
	}
	return x, y
}

// likeness returns the normalised correlation at a shift in pixels, a little
// less for what is farther from the usual place.
func (t *noseTemplate) likeness(s *surroundings, x, y int) float32 {
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
