package alignment

import (
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
)

// The filter of canonical landmarks, as of rigid ones. By eye.
const (
	markMedian = 5 // tracked frames
	markSmooth = 2 // standard deviation, tracked frames
)

// canonical returns the landmarks of consecutive samples as the mouth carries them, smoothed: a nod, which the shifts follow, moves those
// of the lower face by little then.
func canonical(samples []sample, to []geom.Similarity, shifts []geom.Point) []detection.Landmarks {
	moved := make([]sample, len(samples))
	for i, s := range samples {
		back := toMouth(to[i], shifts[i]).Inverse()
		for k, p := range s.Landmarks {
			moved[i].Landmarks[k] = back.Apply(p)
		}
	}
	cuts := jumps(moved)
	out := make([]detection.Landmarks, len(samples))
	for k := range out[0] {
		for i, p := range smoothPoints(moved, func(s *sample) geom.Point { return s.Landmarks[k] }, cuts, func(x []float32) { copy(x, calm(x, markMedian, markSmooth)) }) {
			out[i][k] = p
		}
	}
	return out
}
