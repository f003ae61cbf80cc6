package alignment

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"lipsync/internal/detection"
	"lipsync/internal/dsp"
	"lipsync/internal/geom"
	"lipsync/internal/pixels"
	"lipsync/internal/registration"
)

// sample is the face of one track in one frame, in the frame's coordinates.
type sample struct {
	frame     int
	landmarks detection.Landmarks
	size      float32 // of the face's box, pixels
	crop      *pixels.Crop
}

// model is what is known of a person: learned from the first frames, and used on,
// so that later frames fit to earlier ones.
type model struct {
	shape []geom.Point           // the rigid landmarks, canonical
	band  *registration.Template // the median of what was seen
	nose  *nose                  // of the first band
}

// align returns for each of consecutive samples the similarity that brings
// canonical coordinates to the frame's. Landmarks err by a pixel or two; their
// result is smoothed and then refined by registration of the band with the
// person's (Lucas and Kanade 1981; Baker and Matthews 2004).
func (m *model) align(samples []sample) []geom.Similarity {
	to := m.fromLandmarks(samples)
	rounds := 1
	if m.band == nil {
		m.learn(samples, to)
		rounds = 2
	}
	for range rounds {
		to = m.refine(samples, to)
		m.learn(samples, to)
	}
	return to
}

// fromLandmarks fits the canonical face to the smoothed rigid landmarks.
func (m *model) fromLandmarks(samples []sample) []geom.Similarity {
	rigid := detection.Rigid()
	shapes := make([][]geom.Point, len(samples))
	for i := range shapes {
		shapes[i] = make([]geom.Point, len(rigid))
	}
	cuts := jumps(samples)
	for k, index := range rigid {
		for i, p := range smoothPoints(samples, func(s *sample) geom.Point { return s.landmarks[index] }, cuts, 2.5) {
			shapes[i][k] = p
		}
	}
	if m.shape == nil {
		m.shape = meanShape(shapes)
	}
	to := make([]geom.Similarity, len(samples))
	for i, points := range shapes {
		to[i] = geom.Fit(m.shape, points)
	}
	return to
}

// learn makes the template of the person: the median of at most 40 bands.
func (m *model) learn(samples []sample, to []geom.Similarity) {
	const most = 40
	step := max(1, (len(samples)+most-1)/most)
	var bands [][]float32
	for i := 0; i < len(samples); i += step {
		b := make([]float32, band.Width*band.Height)
		band.Sample(b, samples[i].crop, to[i])
		bands = append(bands, b)
	}
	m.band = registration.NewTemplate(band, median(bands))
}

// median returns the median of pictures, pixel by pixel.
func median(pictures [][]float32) []float32 {
	out := make([]float32, len(pictures[0]))
	values := make([]float32, len(pictures))
	for k := range out {
		for i, p := range pictures {
			values[i] = p[k]
		}
		slices.Sort(values)
		out[k] = values[len(values)/2]
	}
	return out
}

// refine registers each sample's band with the person's.
func (m *model) refine(samples []sample, to []geom.Similarity) []geom.Similarity {
	var motions [len(registration.Motion{})][]float32
	for i := range motions {
		motions[i] = make([]float32, len(samples))
	}
	each(len(samples), func(i int) {
		// Where that leads nowhere the landmarks are better without it.
		motion, _, _ := m.band.Register(samples[i].crop, to[i])
		for k, v := range motion {
			motions[k][i] = v
		}
	})
	cuts := jumps(samples)
	for _, x := range motions {
		filter(x, cuts, 3, .7)
	}
	out := make([]geom.Similarity, len(samples))
	for i := range out {
		motion := registration.Motion{motions[0][i], motions[1][i], motions[2][i], motions[3][i]}
		out[i] = band.Similarity(motion).Then(to[i])
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

// smoothPoints returns a point of consecutive samples without outliers, filtered by
// a Gaussian of sigma frames, each stretch between the cuts by itself.
func smoothPoints(samples []sample, point func(*sample) geom.Point, cuts []int, sigma float64) []geom.Point {
	x, y := make([]float32, len(samples)), make([]float32, len(samples))
	for i := range samples {
		p := point(&samples[i])
		x[i], y[i] = p.X, p.Y
	}
	filter(x, cuts, 5, sigma)
	filter(y, cuts, 5, sigma)
	out := make([]geom.Point, len(samples))
	for i := range out {
		out[i] = geom.Point{X: x[i], Y: y[i]}
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
func jumps(samples []sample) (at []int) {
	const far, sudden = .12, 6 // of the distance of the pupils; times the usual step
	rigid := detection.Rigid()
	centre := func(i int) (c geom.Point) {
		for _, k := range rigid {
			c.X += samples[i].landmarks[k].X / float32(len(rigid))
			c.Y += samples[i].landmarks[k].Y / float32(len(rigid))
		}
		return c
	}
	steps := make([]float32, len(samples))
	for i := 1; i < len(samples); i++ {
		steps[i] = geom.Distance(centre(i-1), centre(i))
	}
	usual := dsp.Quantile(steps, .5)
	for i, step := range steps {
		l := &samples[i].landmarks
		eyes := geom.Distance(l[detection.LeftPupil], l[detection.RightPupil])
		if step > far*eyes && step > sudden*usual {
			at = append(at, i)
		}
	}
	return at
}

// meanShape returns the mean of shapes brought onto each other (generalised
// Procrustes analysis), with its pupils where the canonical face has them.
func meanShape(shapes [][]geom.Point) []geom.Point {
	mean := slices.Clone(shapes[len(shapes)/2])
	for range 3 {
		sum := make([]geom.Point, len(mean))
		for _, s := range shapes {
			fit := geom.Fit(s, mean)
			for k, p := range s {
				q := fit.Apply(p)
				sum[k].X += q.X / float32(len(shapes))
				sum[k].Y += q.Y / float32(len(shapes))
			}
		}
		mean = sum
	}
	fit := geom.Fit(mean[:2], []geom.Point{canonicalLeft, canonicalRight})
	for k, p := range mean {
		mean[k] = fit.Apply(p)
	}
	return mean
}

// descriptor is how a person looks between brows and nose: the band without its
// slow shades, which come from the light, scaled to length 1.
type descriptor []float32

func (m *model) descriptor() descriptor {
	const around = 12 // half the side of the square whose mean is the shade, pixels of the band
	d := make(descriptor, len(m.band.Pix))
	var sum float64
	for y := range band.Height {
		for x := range band.Width {
			v := m.band.Pix[y*band.Width+x] - meanOf(m.band.Pix, x-around, y-around, x+around, y+around)
			d[y*band.Width+x] = v
			sum += float64(v * v)
		}
	}
	scale := float32(1 / math.Sqrt(sum+1e-9))
	for i := range d {
		d[i] *= scale
	}
	return d
}

// meanOf returns the mean of a band from left, top to right, bottom, both
// included, as far as there is any.
func meanOf(pix []float32, left, top, right, bottom int) float32 {
	left, top, right, bottom = max(left, 0), max(top, 0), min(right, band.Width-1), min(bottom, band.Height-1)
	var sum float32
	for y := top; y <= bottom; y++ {
		for _, v := range pix[y*band.Width+left : y*band.Width+right+1] {
			sum += v
		}
	}
	return sum / float32((right-left+1)*(bottom-top+1))
}

// similarity tells how alike two descriptors are: 1 if they are the same, around
// 0 if they have nothing in common.
func (d descriptor) similarity(other descriptor) (sum float32) {
	for i, v := range d {
		sum += v * other[i]
	}
	return sum
}
