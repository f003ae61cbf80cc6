package alignment

import (
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
)

// markFilter is that of canonical landmarks. By eye.
var markFilter = filter{median: 5, sigma: 2}

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
		for i, p := range smoothPoints(moved, func(s *sample) geom.Point { return s.Landmarks[k] }, cuts, markFilter.calm) {
			out[i][k] = p
		}
	}
	return out
}
