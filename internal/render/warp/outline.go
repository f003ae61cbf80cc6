package warp

import "lipsync/internal/signal/dsp"

// outline holds the place of a mouth and the form of its lips, without their gap and width. Lengths
// are canonical.
type outline [outlineSize]float32

// The values of an outline.
const (
	middleX    = iota // x of the middle of the mouth
	levelY            // y at which its lips meet
	over              // share of the gap that is above the level
	upperLip          // height of the upper lip
	lowerLip          // height of the lower lip
	leftLower         // by how much the left corner lies below the level
	rightLower        // by how much the right corner lies below the level
	outlineSize
)

// thinnest is the least height of a lip: a smaller one was misread. By eye.
const thinnest = .03

// outlineOf returns the outline of the mouth shown with a gap, at the place of the mouth own.
func outlineOf(own, shown *lips, gap float32) outline {
	return outline{
		middleX: own.middle(), levelY: own.level(), over: shown.over(gap),
		upperLip: max(shown.upper.middle()-shown.top.middle(), thinnest), lowerLip: max(shown.bottom.middle()-shown.lower.middle(), thinnest),
		leftLower: shown.left.Y - shown.level(), rightLower: shown.right.Y - shown.level(),
	}
}

// over returns the share of a gap that is above the level once the mouth has been given that gap.
func (m *lips) over(gap float32) float32 {
	if gap <= 0 {
		return upperShare
	}
	return (m.above()*min(gap, m.gap()) + upperShare*max(gap-m.gap(), 0)) / gap
}

// give returns the shape s, with its shift, corners and heights of lips set so that the mouth m gets
// this outline.
func (o *outline) give(m *lips, s shape) shape {
	own := outlineOf(m, m, s.gap)
	s.shift.X = o[middleX] - own[middleX]
	s.shift.Y = o[levelY] - o[over]*s.gap - m.upperEdge(s.gap)
	down := o[levelY] - own[levelY] - s.shift.Y
	fallen := func(corner int) float32 { return down + max(o[corner], o[corner]*(1-s.flat)) - own[corner] }
	s.left, s.right = fallen(leftLower), fallen(rightLower)
	s.upper *= max(o[upperLip], thinnest) / own[upperLip]
	s.lower *= max(o[lowerLip], thinnest) / own[lowerLip]
	return s
}

// split sets the steps of a frame's outline, and takes them off it. They are all movement of the place of the mouth, and of its form only
// the steps at jumps. before is the frame before, nil for none; jumps tells whether it shows another example.
func (f *flowing) split(before *flowing, jumps bool) {
	for k, v := range f.outline {
		switch {
		case k == middleX || k == levelY:
			f.steps[k], f.outline[k] = v, 0
		case before == nil:
			f.steps[k] = 0
		case jumps:
			f.outline[k] = before.outline[k]
			f.steps[k] = v - f.outline[k]
		default:
			f.steps[k] = before.steps[k]
			f.outline[k] = v - f.steps[k]
		}
	}
}

// filterSteps returns the outlines of the frames in [from, to), with their steps filtered by a Gaussian of sigma frames.
func filterSteps(frames []flowing, sigma float64, from, to int) []outline {
	filtered, steps := make([]outline, to-from), make([]float32, len(frames))
	for k := range (outline{}) {
		for i := range frames {
			steps[i] = frames[i].steps[k]
		}
		for i, v := range dsp.GaussianOf(steps, sigma, from, to) {
			filtered[i][k] = v + frames[from+i].outline[k]
		}
	}
	return filtered
}
