package alignment

import (
	"math"
	"slices"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/registration"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/parallel"
	"lipsync/internal/signal/pixels"
)

// sample is the face of one track in one frame, in the frame's coordinates.
type sample struct {
	frame int
	detection.Face
	crop *pixels.Crop
}

// reference is the face of one person. It is learned from the first frames and used for all later ones, so
// that all are aligned in the same way.
type reference struct {
	shape []geom.Point           // the rigid landmarks, canonical
	band  *registration.Template // the median of the bands of some frames
	nose  *nose                  // of the first band
}

// The filters of what is read in tracked frames. By eye: with less, faces tremble.
var (
	rigidFilter = filter{median: 5, sigma: 2.5} // of rigid landmarks, whose readings err by 1 to 2 pixels
	placeFilter = filter{median: 3, sigma: .7}  // of the places and shifts that registration finds, which err by less
)

const (
	firstRounds = 2  // rounds of registration with a new reference: the median of the first round is blurred
	bandSamples = 40 // largest number of samples, whose median is the band
)

// align returns for each of consecutive samples the similarity from canonical coordinates to the frame's
// pixels. Landmarks err by a pixel or two. So their similarity is smoothed, then refined by registration
// of the person's band to that of the sample (Lucas and Kanade 1981; Baker and Matthews 2004), and smoothed again.
func (m *reference) align(samples []sample) []geom.Similarity {
	to := m.fromLandmarks(samples)
	rounds := 1
	if m.band == nil {
		m.learn(samples, to)
		rounds = firstRounds
	}
	for range rounds {
		m.refine(samples, to)
		m.learn(samples, to)
	}
	steadyPlaces(to, jumps(samples))
	return to
}

// fromLandmarks fits the canonical face to the smoothed rigid landmarks.
func (m *reference) fromLandmarks(samples []sample) []geom.Similarity {
	rigid := detection.Rigid()
	shapes := make([][]geom.Point, len(samples))
	for i := range shapes {
		shapes[i] = make([]geom.Point, len(rigid))
	}
	cuts := jumps(samples)
	for k, index := range rigid {
		for i, p := range smoothPoints(samples, func(s *sample) geom.Point { return s.Landmarks[index] }, cuts, rigidFilter.steady) {
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

// learn sets the band to the median of the bands of at most bandSamples samples.
func (m *reference) learn(samples []sample, to []geom.Similarity) {
	step := max(1, (len(samples)+bandSamples-1)/bandSamples)
	var bands [][]float32
	for i := 0; i < len(samples); i += step {
		b := make([]float32, Band.Width*Band.Height)
		Band.Sample(b, samples[i].crop, to[i])
		bands = append(bands, b)
	}
	m.band = registration.NewTemplate(Band, median(bands))
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

// refine corrects the similarities to by registration of the person's band to that of the sample. If registration fails, the landmarks decide.
func (m *reference) refine(samples []sample, to []geom.Similarity) {
	parallel.Each(len(samples), func(i int) {
		motion, _, _ := m.band.Register(samples[i].crop, to[i]) // 0 if it fails
		to[i] = Band.Similarity(motion).Then(to[i])
	})
}

// A face jumps if it moves by more than jumpFar times the distance of its pupils, and by more than jumpSudden
// times its median step. By eye.
const jumpFar, jumpSudden = .12, 6

// jumps returns the indices of the samples whose face has jumped since the one before. That happens at a cut
// within a scene, which changes the whole picture too little to be found as a cut.
func jumps(samples []sample) (at []int) {
	rigid := detection.Rigid()
	centre := func(i int) (c geom.Point) {
		for _, k := range rigid {
			c.X += samples[i].Landmarks[k].X / float32(len(rigid))
			c.Y += samples[i].Landmarks[k].Y / float32(len(rigid))
		}
		return c
	}
	steps := make([]float32, len(samples))
	for i := 1; i < len(samples); i++ {
		steps[i] = geom.Distance(centre(i-1), centre(i))
	}
	usual := dsp.Quantile(steps, .5)
	for i, step := range steps {
		l := &samples[i].Landmarks
		eyes := geom.Distance(l[detection.LeftPupil], l[detection.RightPupil])
		if step > jumpFar*eyes && step > jumpSudden*usual {
			at = append(at, i)
		}
	}
	return at
}

// meanRounds is the number of rounds of meanShape. After these the shape hardly changes.
const meanRounds = 3

// meanShape returns the mean of shapes, which it first brings onto each other (generalised Procrustes
// analysis). Its pupils are those of the canonical face.
func meanShape(shapes [][]geom.Point) []geom.Point {
	mean := slices.Clone(shapes[len(shapes)/2])
	for range meanRounds {
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

// descriptor is the band of a person, without the soft shades that come from the light, and scaled to length 1.
type descriptor []float32

// shadeReach is half the side of a square, in pixels of the band: a quarter of the distance of the pupils. The
// shade of a pixel is the mean of the square around it.
const shadeReach = 12

// descriptor returns the descriptor of the reference's band.
func (m *reference) descriptor() descriptor {
	d := make(descriptor, len(m.band.Pix))
	var sum float64
	for y := range Band.Height {
		for x := range Band.Width {
			v := m.band.Pix[y*Band.Width+x] - meanOf(m.band.Pix, x-shadeReach, y-shadeReach, x+shadeReach, y+shadeReach)
			d[y*Band.Width+x] = v
			sum += float64(v * v)
		}
	}
	scale := float32(1 / math.Sqrt(sum+1e-9))
	for i := range d {
		d[i] *= scale
	}
	return d
}

// meanOf returns the mean of the pixels of a band from (left, top) to (right, bottom), both included, as far as
// they are in the band.
func meanOf(pix []float32, left, top, right, bottom int) float32 {
	left, top, right, bottom = max(left, 0), max(top, 0), min(right, Band.Width-1), min(bottom, Band.Height-1)
	var sum float32
	for y := top; y <= bottom; y++ {
		for _, v := range pix[y*Band.Width+left : y*Band.Width+right+1] {
			sum += v
		}
	}
	return sum / float32((right-left+1)*(bottom-top+1))
}

// similarity returns 1 for equal descriptors, and about 0 for descriptors that have nothing in common.
func (d descriptor) similarity(other descriptor) (sum float32) {
	for i, v := range d {
		sum += v * other[i]
	}
	return sum
}
