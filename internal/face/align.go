package face

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"lipsync/internal/dsp"
)

// The canonical face has its pupils here, one unit apart; all canonical
// coordinates are in units of the distance of the pupils.
var (
	canonicalLeft  = Point{.7, .45}
	canonicalRight = Point{1.7, .45}
)

// rigid are the points that don't move when a face speaks.
var rigid = [...]int{LeftPupil, RightPupil, LeftOuterEye, RightOuterEye, LeftInnerEye, RightInnerEye, Nose, LeftBrow, RightBrow}

// The band that alignment compares: from the brows to the base of the nose, in
// canonical units, and its pixels a unit.
const (
	bandLeft, bandTop, bandRight, bandBottom = .45, .15, 1.95, 1.15
	bandScale                                = 48
	bandWidth                                = int((bandRight - bandLeft) * bandScale)
	bandHeight                               = int((bandBottom - bandTop) * bandScale)
)

// Sample is a face in one frame with the pixels around it.
type Sample struct {
	Points Points
	Pixels *Picture
}

// Aligner finds where the canonical face lies in the frames of one track. It
// learns the person's face from the first frames that it sees and goes on with
// it, so that a later block of frames fits to an earlier one.
type Aligner struct {
	shape []Point       // the rigid points of this person, canonical
	look  *bandImage    // the person's band, the median of what was seen
	nose  *noseTemplate // of the first look
}

type bandImage [bandWidth * bandHeight]float32

// Align returns for each of consecutive samples the similarity that brings
// canonical coordinates to the frame's. Landmarks err by a pixel or two; what
// they give is smoothed and then refined by registration of the band to the
// person's own look (Lucas and Kanade 1981; Baker and Matthews 2004).
func (a *Aligner) Align(samples []Sample) []Similarity {
	to := a.fromLandmarks(samples)
	rounds := 1
	if a.look == nil {
		a.look, rounds = median(bands(samples, to)), 2
	}
	for range rounds {
		to = a.refine(samples, to)
		a.look = median(bands(samples, to))
	}
	return to
}

// fromLandmarks fits the canonical face to the smoothed rigid landmarks.
func (a *Aligner) fromLandmarks(samples []Sample) []Similarity {
	tracks := make([][]Point, len(samples))
	for i := range tracks {
		tracks[i] = make([]Point, len(rigid))
	}
	for k, index := range rigid {
		for i, p := range Smooth(samples, index, 2.5) {
			tracks[i][k] = p
		}
	}
	if a.shape == nil {
		a.shape = meanShape(tracks)
	}
	to := make([]Similarity, len(samples))
	for i, points := range tracks {
		to[i] = Fit(a.shape, points)
	}
	return to
}

// Smooth returns one landmark of consecutive samples, without outliers and
// filtered by a Gaussian of sigma frames, but not across a jump.
func Smooth(samples []Sample, index int, sigma float64) []Point {
	x, y := make([]float32, len(samples)), make([]float32, len(samples))
	for i, s := range samples {
		x[i], y[i] = s.Points[index].X, s.Points[index].Y
	}
	cuts := jumps(samples)
	filter(x, cuts, 5, sigma)
	filter(y, cuts, 5, sigma)
	out := make([]Point, len(samples))
	for i := range out {
		out[i] = Point{x[i], y[i]}
	}
	return out
}

// filter smooths x in place by a median of n and a Gaussian of sigma, each
// stretch between the cuts by itself.
func filter(x []float32, cuts []int, n int, sigma float64) {
	from := 0
	for _, cut := range cuts {
		filter(x[from:cut], nil, n, sigma)
		from = cut
	}
	copy(x[from:], dsp.Gaussian(dsp.Median(x[from:], n), sigma))
}

// jumps returns the samples whose face is not where it was in the one before:
// cuts within a scene, too slight to show in the whole picture.
func jumps(samples []Sample) (at []int) {
	const far, sudden = .12, 6 // of the distance of the pupils; times the usual step
	centre := func(i int) Point {
		var all []Point
		for _, k := range rigid {
			all = append(all, samples[i].Points[k])
		}
		return centroid(all)
	}
	steps := make([]float32, len(samples))
	for i := 1; i < len(samples); i++ {
		steps[i] = Distance(centre(i-1), centre(i))
	}
	usual := dsp.Quantile(steps, .5)
	for i, step := range steps {
		eyes := Distance(samples[i].Points[LeftPupil], samples[i].Points[RightPupil])
		if step > far*eyes && step > sudden*usual {
			at = append(at, i)
		}
	}
	return at
}

// meanShape returns the mean of shapes brought onto each other (generalised
// Procrustes analysis), with its pupils where the canonical face has them.
func meanShape(shapes [][]Point) []Point {
	mean := slices.Clone(shapes[len(shapes)/2])
	for range 3 {
		sum := make([]Point, len(mean))
		for _, s := range shapes {
			fit := Fit(s, mean)
			for k, p := range s {
				q := fit.Apply(p)
				sum[k].X += q.X / float32(len(shapes))
				sum[k].Y += q.Y / float32(len(shapes))
			}
		}
		mean = sum
	}
	fit := Fit(mean[:2], []Point{canonicalLeft, canonicalRight})
	for k, p := range mean {
		mean[k] = fit.Apply(p)
	}
	return mean
}

// bands returns the aligned bands of at most 40 of the samples.
func bands(samples []Sample, to []Similarity) []*bandImage {
	const most = 40
	step := max(1, (len(samples)+most-1)/most)
	var out []*bandImage
	for i := 0; i < len(samples); i += step {
		b := new(bandImage)
		b.sample(samples[i].Pixels, to[i])
		out = append(out, b)
	}
	return out
}

// sample fills the band from a frame's pixels.
func (b *bandImage) sample(p *Picture, to Similarity) {
	for y := range bandHeight {
		for x := range bandWidth {
			q := to.Apply(Point{bandLeft + (float32(x)+.5)/bandScale, bandTop + (float32(y)+.5)/bandScale})
			b[y*bandWidth+x] = p.Soft(q)
		}
	}
}

func median(images []*bandImage) *bandImage {
	out := new(bandImage)
	values := make([]float32, len(images))
	for k := range out {
		for i, b := range images {
			values[i] = b[k]
		}
		slices.Sort(values)
		out[k] = values[len(values)/2]
	}
	return out
}

// refine registers each sample's band to the person's look.
func (a *Aligner) refine(samples []Sample, to []Similarity) []Similarity {
	var moves [4][]float32 // x, y, scale, turn: of each sample
	for i := range moves {
		moves[i] = make([]float32, len(samples))
	}
	r := newRegistration(a.look)
	each(len(samples), func(i int) {
		for k, v := range r.solve(samples[i].Pixels, to[i]) {
			moves[k][i] = v
		}
	})
	cuts := jumps(samples)
	for _, m := range moves {
		filter(m, cuts, 3, .7)
	}
	out := make([]Similarity, len(samples))
	for i := range out {
		out[i] = move([4]float32{moves[0][i], moves[1][i], moves[2][i], moves[3][i]}).Then(to[i])
	}
	return out
}

// each calls do for 0 to n-1, on all cores.
func each(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}

// bandCentre is what registration scales and turns around.
var bandCentre = Point{(bandLeft + bandRight) / 2, (bandTop + bandBottom) / 2}

// move returns the similarity of canonical coordinates with the parameters x
// and y shift, growth and turn (small, in radians) around the band's centre.
func move(p [4]float32) Similarity {
	c := bandCentre
	s := Similarity{A: 1 + p[2], B: p[3]}
	o := s.Apply(c)
	s.X, s.Y = c.X-o.X+p[0], c.Y-o.Y+p[1]
	return s
}

// registration is what Lucas–Kanade needs of its template, made once.
type registration struct {
	look   *bandImage
	slopes [][6]float32 // of each pixel: by x, y, growth, turn, bias, gain
}

func newRegistration(look *bandImage) *registration {
	r := &registration{look: look, slopes: make([][6]float32, len(look))}
	for y := 1; y < bandHeight-1; y++ {
		for x := 1; x < bandWidth-1; x++ {
			k := y*bandWidth + x
			gx := (look[k+1] - look[k-1]) / 2 * bandScale // a canonical unit
			gy := (look[k+bandWidth] - look[k-bandWidth]) / 2 * bandScale
			u := bandLeft + (float32(x)+.5)/bandScale - bandCentre.X
			v := bandTop + (float32(y)+.5)/bandScale - bandCentre.Y
			r.slopes[k] = [6]float32{gx, gy, gx*u + gy*v, gy*u - gx*v, 1, look[k]}
		}
	}
	return r
}

// solve returns the move that best brings the person's look onto the pixels,
// with gain and bias free and outliers (a hand, a blink) weighed down.
func (r *registration) solve(pixels *Picture, to Similarity) [4]float32 {
	const rounds, noise, converged, most = 6, 12, .0004, .12 // noise in grey levels, the others canonical
	var p [4]float32
	var band bandImage
	for range rounds {
		band.sample(pixels, move(p).Then(to))
		var m [6][7]float64
		for k, j := range r.slopes {
			e := band[k] - r.look[k]
			w := 1 / (1 + sq(e/noise))
			for a := range 6 {
				wj := w * j[a]
				for b := a; b < 6; b++ {
					m[a][b] += float64(wj * j[b])
				}
				m[a][6] -= float64(wj * e)
			}
		}
		d, ok := solve6(&m)
		if !ok {
			return [4]float32{}
		}
		var step float32
		for i := range p {
			p[i] += float32(d[i])
			step = max(step, float32(math.Abs(d[i])))
		}
		if step < converged {
			break
		}
	}
	if max(abs(p[0]), abs(p[1]), abs(p[2]), abs(p[3])) > most {
		return [4]float32{} // lost: better the landmarks alone
	}
	return p
}

// solve6 solves the symmetric system whose upper half and right side m holds.
func solve6(m *[6][7]float64) (x [6]float64, ok bool) {
	for a := range 6 {
		m[a][a] += 1e-3
		for b := range a {
			m[a][b] = m[b][a]
		}
	}
	for a := range 6 {
		if math.Abs(m[a][a]) < 1e-9 {
			return x, false
		}
		for b := a + 1; b < 6; b++ {
			f := m[b][a] / m[a][a]
			for c := a; c < 7; c++ {
				m[b][c] -= f * m[a][c]
			}
		}
	}
	for a := 5; a >= 0; a-- {
		x[a] = m[a][6]
		for b := a + 1; b < 6; b++ {
			x[a] -= m[a][b] * x[b]
		}
		x[a] /= m[a][a]
	}
	return x, true
}

func sq(x float32) float32 { return x * x }

func abs(x float32) float32 { return max(x, -x) }
