package score

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// components is the number of principal components of a mouth that count. A mouth has four or so ways to move: it opens, widens, protrudes,
// and its lower lip goes to the teeth. The noise of a small or turning face moves as much, and the picture of a mouth that rounds changes in more
// than one component. With all its voices TestSyncScore_long found 17 of 30 tracks in sync with 6 components, 26 with 10, and 29 with 13 and with 16,
// which were chosen by it.
const components = 16

// framesEach is the number of frames of a person for each component, at least: with fewer any curve is a sum of the components.
const framesEach = 8

// rounding is the variance of a cell whose pixels change only by rounding.
const rounding = 1. / 12 / (taps * taps)

// movements holds for each person the components of the movements of the mouth. All are perpendicular to each other, and of length 1.
type movements struct {
	people []*movement
	frames int
}

// movement has the components of one person's mouth.
type movement struct {
	at     []int // the person's frames, as indices of all frames
	values [][components]float64
}

// newMovements returns the movements of the mouths in frames. The ends of the runs of frames are given as indices. Movements that a Gaussian with
// a standard deviation of slow frames keeps are removed first.
func newMovements(frames []Frame, ends []int, slow float64) *movements {
	all := mat.NewDense(len(frames), cells, nil)
	for i := range frames {
		for k, v := range frames[i].Mouth {
			all.Set(i, k, float64(v))
		}
	}
	from := 0
	for _, to := range ends {
		run := make([]float64, to-from)
		for k := range cells {
			for i := range run {
				run[i] = all.At(from+i, k)
			}
			quick(run, slow)
			for i, v := range run {
				all.Set(from+i, k, v)
			}
		}
		from = to
	}
	m := &movements{frames: len(frames)}
	for _, person := range people(frames) {
		p := &movement{}
		for i := range frames {
			if frames[i].Person == person {
				p.at = append(p.at, i)
			}
		}
		p.find(all)
		m.people = append(m.people, p)
	}
	return m
}

// find sets the values to the first principal components of the rows of the person's frames.
func (p *movement) find(all *mat.Dense) {
	covariance := mat.NewSymDense(cells, nil)
	for _, i := range p.at {
		covariance.SymRankOne(covariance, 1, all.RowView(i))
	}
	p.values = make([][components]float64, len(p.at))
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	sizes := eigen.Values(nil) // in ascending order
	for c := range min(components, len(p.at)/framesEach) {
		size := sizes[cells-1-c]
		if size <= rounding*float64(len(p.at)) {
			return // nothing else moves
		}
		vector := vectors.ColView(cells - 1 - c)
		for k, i := range p.at {
			p.values[k][c] = mat.Dot(all.RowView(i), vector) / math.Sqrt(size)
		}
	}
}

// agreement returns Fisher's z of the multiple correlation of the movements and a curve with one value for each frame, which is moved by lag
// frames. What leaves it at one end enters at the other.
func (m *movements) agreement(curve []float64, lag int) float64 {
	n := len(curve)
	mean := floats.Sum(curve) / float64(n)
	var squares float64
	for _, v := range curve {
		squares += (v - mean) * (v - mean)
	}
	var explained float64
	for _, p := range m.people {
		var sums [components]float64
		for k, i := range p.at {
			from := i - lag
			if from < 0 {
				from += n
			} else if from >= n {
				from -= n
			}
			v := curve[from] - mean
			for c, value := range p.values[k] {
				sums[c] += value * v
			}
		}
		for _, sum := range sums {
			explained += sum * sum
		}
	}
	return math.Atanh(min(math.Sqrt(explained/(squares+1e-12)), 1-1e-9))
}
