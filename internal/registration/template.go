package registration

import (
	"slices"

	"lipsync/internal/dsp"
	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// Grid tells where the pixels of a template lie on the canonical face.
type Grid struct {
	Left, Top     float32 // of the first pixel's corner, canonical
	Scale         float32 // pixels to a canonical unit
	Width, Height int     // pixels
}

// Centre returns the grid's middle, canonical.
func (g Grid) Centre() geom.Point {
	return geom.Point{X: g.Left + float32(g.Width)/g.Scale/2, Y: g.Top + float32(g.Height)/g.Scale/2}
}

// Place returns the canonical place of a pixel's centre.
func (g Grid) Place(x, y int) geom.Point {
	return geom.Point{X: g.Left + (float32(x)+.5)/g.Scale, Y: g.Top + (float32(y)+.5)/g.Scale}
}

// Sample fills out with the soft luma of a crop, for a canonical face that lies in
// the frame as to tells. out has Width × Height values, row by row.
func (g Grid) Sample(out []float32, c *pixels.Crop, to geom.Similarity) {
	c.SoftGrid(out, g.Width, to, g.Place(0, 0), 1/g.Scale)
}

// Motion is a small motion of a grid: shifts to the right and down in canonical
// units, growth as a share, and a clockwise turn in radians, both around the
// grid's centre.
type Motion [4]float32

// Similarity returns the motion as a similarity of canonical coordinates.
func (g Grid) Similarity(m Motion) geom.Similarity {
	c := g.Centre()
	s := geom.Similarity{A: 1 + m[2], B: m[3]}
	o := s.Apply(c)
	s.X, s.Y = c.X-o.X+m[0], c.Y-o.Y+m[1]
	return s
}

// Template is a picture that frames are registered to: what Lucas and Kanade
// (1981) need of it, made once.
type Template struct {
	Grid
	Pix  []float32
	used []pixel
}

// pixel is a pixel of a template that registration compares. The half with the
// steepest slopes is enough: the others say little of motion (Dellaert and
// Collins, "Fast Image-Based Tracking by Selective Pixel Integration", 1999).
type pixel struct {
	at     geom.Point // canonical
	value  float32
	slopes [parameters]float32
}

// parameters are those of a Motion, a bias and a gain of the luma.
const parameters = 6

// NewTemplate returns the template of Width × Height values.
func NewTemplate(g Grid, pix []float32) *Template {
	t := &Template{Grid: g, Pix: pix}
	centre := g.Centre()
	var steep []float32
	for y := 1; y < g.Height-1; y++ {
		for x := 1; x < g.Width-1; x++ {
			k := y*g.Width + x
			gx := (pix[k+1] - pix[k-1]) / 2 * g.Scale // a canonical unit
			gy := (pix[k+g.Width] - pix[k-g.Width]) / 2 * g.Scale
			p := g.Place(x, y)
			u, v := p.X-centre.X, p.Y-centre.Y
			t.used = append(t.used, pixel{p, pix[k], [parameters]float32{gx, gy, gx*u + gy*v, gy*u - gx*v, 1, pix[k]}})
			steep = append(steep, gx*gx+gy*gy)
		}
	}
	least := dsp.Quantile(steep, .5)
	t.used = slices.DeleteFunc(t.used, func(p pixel) bool { return p.slopes[0]*p.slopes[0]+p.slopes[1]*p.slopes[1] < least })
	return t
}

// Register returns the motion after which the crop looks most like the template,
// from a start near it, and the NCC of the two. Gain and bias are free, and
// outliers (a hand, a blink) are weighed down. It returns false if that leads
// nowhere near.
func (t *Template) Register(c *pixels.Crop, to geom.Similarity) (m Motion, match float32, ok bool) {
	const rounds, converged, farthest = 6, .0004, .12 // the last two canonical
	soft, fromFrame := c.SoftLuma()
	seen := make([]float32, len(t.used))
	for range rounds {
		toSoft := t.Similarity(m).Then(to).Then(fromFrame)
		for i := range t.used {
			p := toSoft.Apply(t.used[i].at)
			seen[i] = soft.Bilinear(p.X, p.Y)
		}
		step, ok := t.step(seen)
		if !ok {
			return Motion{}, 0, false
		}
		var most float32
		for i := range m {
			m[i] += step[i]
			most = max(most, step[i], -step[i])
		}
		if most < converged {
			break
		}
	}
	for _, v := range m {
		if !(v <= farthest && v >= -farthest) {
			return Motion{}, 0, false
		}
	}
	values := make([]float32, len(t.used))
	for i := range values {
		values[i] = t.used[i].value
	}
	return m, NCC(seen, values), true
}

// step returns by how much the parameters are to change, by one round of weighted
// least squares over what is seen.
func (t *Template) step(seen []float32) (x [parameters]float32, ok bool) {
	const noise = 12     // grey levels
	const together = 128 // pixels that are summed up with less precision
	var system [parameters][parameters + 1]float64
	for from := 0; from < len(seen); from += together {
		var part [parameters][parameters + 1]float32
		for k := from; k < min(from+together, len(seen)); k++ {
			j := &t.used[k].slopes
			e := seen[k] - t.used[k].value
			w := 1 / (1 + e*e/(noise*noise))
			for a := range parameters {
				wj := w * j[a]
				for b := a; b < parameters; b++ {
					part[a][b] += wj * j[b]
				}
				part[a][parameters] -= wj * e
			}
		}
		for a := range part {
			for b, v := range part[a] {
				system[a][b] += float64(v)
			}
		}
	}
	return solve(&system)
}

// solve solves the symmetric system whose upper half and right side m holds, by
// Gauss's elimination.
func solve(m *[parameters][parameters + 1]float64) (x [parameters]float32, ok bool) {
	const n = parameters
	for a := range n {
		m[a][a] += 1e-3
		for b := range a {
			m[a][b] = m[b][a]
		}
	}
	for a := range n {
		if m[a][a] < 1e-9 && m[a][a] > -1e-9 {
			return x, false
		}
		for b := a + 1; b < n; b++ {
			f := m[b][a] / m[a][a]
			for c := a; c <= n; c++ {
				m[b][c] -= f * m[a][c]
			}
		}
	}
	var y [n]float64
	for a := n - 1; a >= 0; a-- {
		y[a] = m[a][n]
		for b := a + 1; b < n; b++ {
			y[a] -= m[a][b] * y[b]
		}
		y[a] /= m[a][a]
		x[a] = float32(y[a])
	}
	return x, true
}
