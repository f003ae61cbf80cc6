package registration

import (
	"gonum.org/v1/gonum/blas/blas32"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// Grid is a grid of pixels on the canonical face.
type Grid struct {
	Left, Top     float32 // of the first pixel's corner, canonical
	Scale         float32 // pixels to a canonical unit
	Width, Height int     // pixels
}

// centre returns the grid's middle, canonical.
func (g Grid) centre() geom.Point {
	return geom.Point{X: g.Left + float32(g.Width)/g.Scale/2, Y: g.Top + float32(g.Height)/g.Scale/2}
}

// Place returns the canonical place of a pixel's centre.
func (g Grid) Place(x, y int) geom.Point {
	return geom.Point{X: g.Left + (float32(x)+.5)/g.Scale, Y: g.Top + (float32(y)+.5)/g.Scale}
}

// Sample fills out with the soft luma of a crop in the grid's pixels: Width × Height values, row by row. to is the
// similarity from canonical coordinates to the frame's pixels.
func (g Grid) Sample(out []float32, c *pixels.Crop, to geom.Similarity) {
	c.SoftGrid(out, g.Width, to, g.Place(0, 0), 1/g.Scale)
}

// Motion is a small motion of a grid: shifts to the right and down in canonical units, growth as a share, and a
// clockwise turn in radians. Growth and turn are around the grid's centre.
type Motion [4]float32

// Similarity returns the motion as a similarity of canonical coordinates.
func (g Grid) Similarity(m Motion) geom.Similarity {
	c := g.centre()
	s := geom.Similarity{A: 1 + m[2], B: m[3]}
	o := s.Apply(c)
	s.X, s.Y = c.X-o.X+m[0], c.Y-o.Y+m[1]
	return s
}

// Template is a picture that crops are registered to, by the method of Lucas and Kanade (1981).
type Template struct {
	Grid
	Pix []float32 // luma, Width × Height, row by row

	// Registration compares only the half of the pixels that has the steepest slopes, since the others tell
	// little of motion (Dellaert and Collins, "Fast Image-Based Tracking by Selective Pixel Integration", 1999).
	at     []geom.Point          // the canonical places of these pixels
	slopes [parameters][]float32 // for each parameter, the change of these pixels by it; for the gain that is their luma
}

// parameters is the number of parameters that registration finds: the four of a Motion, and a bias and a gain
// of the luma.
const parameters = 6

const (
	comparedShare = .5    // pixels are compared from this quantile of squared slopes on
	rounds        = 6     // rounds of least squares, at most
	converged     = .0004 // a round with a smaller motion is the last one: a fortieth of a pixel of soft luma, canonical
	farthest      = .12   // largest motion that is found, canonical: least squares fail for larger ones
	noise         = 12    // difference of luma, in levels, at which a pixel has half the weight: larger ones are a hand or a blink; by eye
	damping       = 1e-3  // added to the diagonal of the system, so that a flat template has a solution
	leastPivot    = 1e-9  // a smaller one has no solution
)

// NewTemplate returns the template of Width × Height values of luma, row by row.
func NewTemplate(g Grid, pix []float32) *Template {
	t := &Template{Grid: g, Pix: pix}
	steep := make([]float32, 0, len(pix))
	for y := 1; y < g.Height-1; y++ {
		for x := 1; x < g.Width-1; x++ {
			gx, gy := t.gradient(x, y)
			steep = append(steep, gx*gx+gy*gy)
		}
	}
	least := dsp.Quantile(steep, comparedShare)
	centre := g.centre()
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

// gradient returns the slopes of the luma around a pixel, to the right and down, in levels by canonical unit.
func (t *Template) gradient(x, y int) (right, down float32) {
	k := y*t.Width + x
	return (t.Pix[k+1] - t.Pix[k-1]) / 2 * t.Scale, (t.Pix[k+t.Width] - t.Pix[k-t.Width]) / 2 * t.Scale
}

// values returns the luma of the pixels that are compared.
func (t *Template) values() []float32 { return t.slopes[parameters-1] }

// Register returns the motion after which a crop is most like the template, and the NCC of the two. to is the
// similarity from canonical coordinates to the frame's pixels, without the motion. The luma may differ by any gain and
// bias, and pixels that differ much count less. Register returns false if it finds no motion up to farthest.
func (t *Template) Register(c *pixels.Crop, to geom.Similarity) (m Motion, match float32, ok bool) {
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

// step returns the change of the parameters by one round of weighted least squares. seen is the luma of the compared
// pixels in the crop. scratch has three values for each of them.
func (t *Template) step(seen, scratch []float32) (x [parameters]float32, ok bool) {
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

// solve returns the solution of a symmetric system by Gaussian elimination, and whether there is one. m holds its upper
// half and its right side. solve overwrites m.
func solve(m *[parameters][parameters + 1]float64) (x [parameters]float32, ok bool) {
	const n = parameters
	for a := range n {
		m[a][a] += damping
		for b := range a {
			m[a][b] = m[b][a]
		}
	}
	for a := range n {
		if m[a][a] < leastPivot && m[a][a] > -leastPivot {
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
