package registration

import (
	"gonum.org/v1/gonum/blas/blas32"

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
	Pix []float32

	// Of the pixels that registration compares: where they lie, canonical, and by how much
	// each parameter changes them. The half with the steepest slopes is enough: the others
	// say little of motion (Dellaert and Collins, "Fast Image-Based Tracking by Selective
	// Pixel Integration", 1999).
	at     []geom.Point
	slopes [parameters][]float32 // the last one is the pixels' own values
}

// parameters are those of a Motion, a bias and a gain of the luma.
const parameters = 6

// NewTemplate returns the template of Width × Height values.
func NewTemplate(g Grid, pix []float32) *Template {
	t := &Template{Grid: g, Pix: pix}
	steep := make([]float32, 0, len(pix))
	for y := 1; y < g.Height-1; y++ {
		for x := 1; x < g.Width-1; x++ {
			gx, gy := t.gradient(x, y)
			steep = append(steep, gx*gx+gy*gy)
		}
	}
	least := dsp.Quantile(steep, .5)
	centre := g.Centre()
	t.at = make([]geom.Point, 0, len(steep)/2+1)
	for a := range t.slopes {
		t.slopes[a] = make([]float32, 0, len(steep)/2+1)
	}
	for y := 1; y < g.Height-1; y++ {
		for x := 1; x < g.Width-1; x++ {
			gx, gy := t.gradient(x, y)
			if gx*gx+gy*gy < least {
				continue
			}
			p := g.Place(x, y)
			u, v := p.X-centre.X, p.Y-centre.Y
			t.at = append(t.at, p)
			for a, slope := range [parameters]float32{gx, gy, gx*u + gy*v, gy*u - gx*v, 1, pix[y*g.Width+x]} {
				t.slopes[a] = append(t.slopes[a], slope)
			}
		}
	}
	return t
}

// gradient returns by how much the luma grows around a pixel, to the right and down, by
// canonical unit.
func (t *Template) gradient(x, y int) (right, down float32) {
	k := y*t.Width + x
	return (t.Pix[k+1] - t.Pix[k-1]) / 2 * t.Scale, (t.Pix[k+t.Width] - t.Pix[k-t.Width]) / 2 * t.Scale
}

// values returns the luma of the pixels that registration compares.
func (t *Template) values() []float32 { return t.slopes[parameters-1] }

// Register returns the motion after which the crop looks most like the template,
// from a start near it, and the NCC of the two. Gain and bias are free, and
// outliers (a hand, a blink) are weighed down. It returns false if that leads
// nowhere near.
func (t *Template) Register(c *pixels.Crop, to geom.Similarity) (m Motion, match float32, ok bool) {
	const rounds, converged, farthest = 6, .0004, .12 // the last two canonical
	seen, scratch := make([]float32, len(t.at)), make([]float32, 3*len(t.at))
	for range rounds {
		c.SoftPoints(seen, t.at, t.Similarity(m).Then(to))
		step, ok := t.step(seen, scratch)
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
	return m, NCC(seen, t.values()), true
}

// step returns by how much the parameters are to change, by one round of weighted
// least squares over what is seen. scratch holds three values for each of these.
func (t *Template) step(seen, scratch []float32) (x [parameters]float32, ok bool) {
	const noise = 12 // grey levels
	n := len(seen)
	errors, weights, weighted := scratch[:n], scratch[n:2*n], scratch[2*n:][:n]
	for k, v := range t.values() {
		e := seen[k] - v
		errors[k], weights[k] = e, noise*noise/(noise*noise+e*e)
	}
	var system [parameters][parameters + 1]float64
	for a, slopes := range t.slopes {
		for k, w := range weights {
			weighted[k] = w * slopes[k]
		}
		for b := a; b < parameters; b++ {
			system[a][b] = dot(weighted, t.slopes[b])
		}
		system[a][parameters] = -dot(weighted, errors)
	}
	return solve(&system)
}

func dot(a, b []float32) float64 {
	return float64(blas32.Dot(blas32.Vector{N: len(a), Data: a, Inc: 1}, blas32.Vector{N: len(b), Data: b, Inc: 1}))
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
