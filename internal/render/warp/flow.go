package warp

import (
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/dsp"
)

// split sets the steps of a frame's outline, and takes them off it. They are all movement of the place of the mouth, and of its form only
// the steps at jumps. before is the frame before, nil for none; jumps tells whether it shows another example.
func (f *flowing) split(before *flowing, jumps bool) {
	for k, v := range f.Outline {
		switch {
		case k == mouth.MiddleX || k == mouth.LevelY:
			f.steps[k], f.Outline[k] = v, 0
		case before == nil:
			f.steps[k] = 0
		case jumps:
			f.Outline[k] = before.Outline[k]
			f.steps[k] = v - f.Outline[k]
		default:
			f.steps[k] = before.steps[k]
			f.Outline[k] = v - f.steps[k]
		}
	}
}

// filterSteps returns the outlines of the frames in [from, to), with their steps filtered by a Gaussian of sigma frames.
func filterSteps(frames []flowing, sigma float64, from, to int) []mouth.Outline {
	filtered, steps := make([]mouth.Outline, to-from), make([]float32, len(frames))
	for k := range (mouth.Outline{}) {
		for i := range frames {
			steps[i] = frames[i].steps[k]
		}
		for i, v := range dsp.GaussianOf(steps, sigma, from, to) {
			filtered[i][k] = v + frames[from+i].Outline[k]
		}
	}
	return filtered
}
