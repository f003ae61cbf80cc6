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
	s.shift.Y = (o[levelY] - o[over]*s.gap) - (own[levelY] - own[over]*s.gap) // of the upper lip's inner edge
	down := o[levelY] - own[levelY] - s.shift.Y
	fallen := func(corner int) float32 { return down + max(o[corner], o[corner]*(1-s.flat)) - own[corner] }
	s.left, s.right = fallen(leftLower), fallen(rightLower)
	s.upper *= max(o[upperLip], thinnest) / own[upperLip]
	s.lower *= max(o[lowerLip], thinnest) / own[lowerLip]
	return s
}

// flowOutlines filters the outlines of consecutive frames by a Gaussian of sigma frames. It filters
// all movement of the place of the mouth. Of its form it filters only the steps at jumps: jumps tells
// whether frame i shows another example than frame i-1.
func flowOutlines(run []outline, sigma float64, jumps func(i int) bool) {
	steps, rest := make([]float32, len(run)), make([]float32, len(run))
	for k := range (outline{}) {
		for i := range run {
			switch v := run[i][k]; {
			case k == middleX || k == levelY:
				steps[i] = v
			case i == 0:
				steps[i], rest[i] = 0, v
			case jumps(i):
				rest[i] = rest[i-1]
				steps[i] = v - rest[i]
			default:
				steps[i] = steps[i-1]
				rest[i] = v - steps[i]
			}
		}
		for i, v := range dsp.Gaussian(steps, sigma) {
			run[i][k] = v + rest[i]
		}
	}
}
