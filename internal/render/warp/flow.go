package warp

import (
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/dsp"
)

const (
	flowSeconds = .06     // standard deviation of the filter of outlines, which spreads a jump over some three frames; by eye
	flowShare   = 1. / 3. // share of the other example in the frames before and after a jump; by eye
)

// flow keeps the mouth from jumping when the example changes: outlines are filtered, and the
// frames before and after a jump show both examples in the same outline. at returns the i-th of n
// consecutive frames, with its example.
func (p *person) flow(fps float64, n int, at func(i int) (wanted, error), next func(*target) error) error {
	sigma := flowSeconds * fps
	reach := dsp.Radius(sigma)
	first := 0           // frame of window[0]
	var window []flowing // frames whose outlines aren't filtered yet, after some that are
	var last flowing     // the one before, which a jump may still change
	for from := 0; from < n; from += windowFrames {
		to := min(from+windowFrames, n)
		for i := first + len(window); i < min(to+reach, n); i++ {
			w, err := at(i)
			if err != nil {
				return err
			}
			f := flowing{target: w.target, own: w.own.Lips, Outline: mouth.OutlineOf(&w.own.Lips, &p.bank.examples[w.example].Shown.Lips, w.shape.Gap)}
			if k := i - first - 1; k >= 0 {
				f.split(&window[k], p.chooser.jumps(window[k].example, f.example))
			} else {
				f.split(nil, false)
			}
			window = append(window, f)
		}
		filtered := filterSteps(window, sigma, from-first, to-first)
		for i := from; i < to; i++ {
			f := window[i-first]
			f.Outline, f.asked = filtered[i-from], f.shape
			f.shape, f.under = p.place(&f, f.example), f.Under(&f.own, f.asked)
			if i > 0 {
				// Of two jumps in a row only the first one flows.
				if a, b := last.example, f.example; p.chooser.jumps(a, b) && last.share == 0 {
					last.share, last.other, last.otherShape = flowShare, b, p.place(&last, b)
					f.share, f.other, f.otherShape = flowShare, a, p.place(&f, a)
				}
				if err := next(&last.target); err != nil {
					return err
				}
			}
			last = f
		}
		kept := max(to-max(reach, 1), 0) // split needs the frame before, also if the filter needs none
		window, first = append(window[:0], window[kept-first:]...), kept
	}
	if n == 0 {
		return nil
	}
	return next(&last.target)
}

// flowing is a frame whose outline flows into those of its neighbours.
type flowing struct {
	target
	mouth.Outline
	own   mouth.Lips    // of the frame
	steps mouth.Outline // the part of the outline that is filtered
	asked mouth.Shape   // without the outline
}

// place returns the shape of an example in a frame.
func (p *person) place(f *flowing, example int) mouth.Shape {
	return f.Give(&p.bank.examples[example].Shown.Lips, f.asked)
}

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
