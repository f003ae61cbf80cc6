package mouth

// Outline holds the place of a mouth and the form of its lips, without their gap and width. Lengths
// are canonical.
type Outline [outlineSize]float32

// The values of an outline.
const (
	MiddleX    = iota // x of the middle of the mouth
	LevelY            // y at which its lips meet
	over              // share of the gap that is above the level
	upperLip          // height of the upper lip
	lowerLip          // height of the lower lip
	leftLower         // by how much the left corner lies below the level
	rightLower        // by how much the right corner lies below the level
	outlineSize
)

// thinnest is the least height of a lip: a smaller one was misread. By eye.
const thinnest = .03

// OutlineOf returns the outline of the mouth shown with a gap, at the place of the mouth own.
func OutlineOf(own, shown *Lips, gap float32) Outline {
	return Outline{
		MiddleX: own.Middle(), LevelY: own.Level(), over: shown.over(gap),
		upperLip: max(shown.Upper.middle()-shown.Top.middle(), thinnest), lowerLip: max(shown.Bottom.middle()-shown.Lower.middle(), thinnest),
		leftLower: shown.Left.Y - shown.Level(), rightLower: shown.Right.Y - shown.Level(),
	}
}

// over returns the share of a gap that is above the level once the mouth has been given that gap.
func (m *Lips) over(gap float32) float32 {
	if gap <= 0 {
		return upperShare
	}
	return (m.above()*min(gap, m.Gap()) + upperShare*max(gap-m.Gap(), 0)) / gap
}

// Give returns the shape s, with its shift, corners and heights of lips set so that the mouth m gets
// this outline.
func (o *Outline) Give(m *Lips, s Shape) Shape {
	own := OutlineOf(m, m, s.Gap)
	s.Shift.X = o[MiddleX] - own[MiddleX]
	s.Shift.Y = o[LevelY] - o[over]*s.Gap - m.upperEdge(s.Gap)
	down := o[LevelY] - own[LevelY] - s.Shift.Y
	fallen := func(corner int) float32 { return down + max(o[corner], o[corner]*(1-s.round)) - own[corner] }
	s.Left, s.Right = fallen(leftLower), fallen(rightLower)
	s.Upper *= max(o[upperLip], thinnest) / own[upperLip]
	s.Lower *= max(o[lowerLip], thinnest) / own[lowerLip]
	return s
}

// Under returns the shape s that the frame's own mouth m gets under an example with this outline. Its lips grow no higher than a lip that keeps its
// area, as soft tissue about does, which is nearly incompressible (Fung, "Biomechanics", 1993): the wider the mouth, the thinner. Where the example's
// lip is higher, the skin around m lies under it.
func (o *Outline) Under(m *Lips, s Shape) Shape {
	most := m.Width() / s.Width
	under := o.Give(m, s)
	under.Upper, under.Lower = min(under.Upper, s.Upper*most), min(under.Lower, s.Lower*most)
	return under
}
