package alignment

import (
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
)

// Gaps between lips, canonical, less what lips that touch are read apart (see LessAtRest).
const (
	Touching = .018 // lips with a smaller gap touch, for the eye: so it is in .985 of 136 labelled frames of seven people
	Parted   = .03  // lips part visibly from this gap on; by eye
)

const (
	closedGap  = .03  // half of this quantile of a person's gaps is the rest gap: some people never close their lips in the video, and then it is too large
	mostClosed = .055 // largest value of that quantile that counts
	surelyOpen = 2    // lips that are so many rest gaps farther apart than touching ones surely don't touch; by eye
	leastRest  = 1e-4
)

// RestGap returns what the inner edges of a person's lips that touch are read apart, by the gaps of all frames of a video.
func RestGap(gaps []float32) float32 { return min(dsp.Quantile(gaps, closedGap), mostClosed) / 2 }

// LessAtRest returns by how much a gap that was read is smaller in truth: by the rest gap if the lips may touch. The gap of lips that surely
// don't touch is right: between them may be teeth, which must not be taken for lips.
func LessAtRest(gap, rest float32) float32 {
	apart := gap - rest - Touching
	return rest * min(max(1-apart/(surelyOpen*max(rest, leastRest)), 0), 1)
}

// GapOf returns the gap between lips in the coordinates of ToMouth: the mean distance of their inner edges around the middle.
func GapOf(l *detection.Lips) (gap float32) {
	const from, to = detection.ContourPoints/2 - 2, detection.ContourPoints/2 + 3
	for k := from; k < to; k++ {
		gap += max(l.Inner.Lower[k].Y-l.Inner.Upper[k].Y, 0) / (to - from)
	}
	return gap
}

// Placed returns the face of a box whose mouth is at its place by toMouth, as far as detection.Detector.LocateMouth needs it.
func Placed(box detection.Box, toMouth geom.Similarity) detection.Face {
	f := detection.Face{Box: box}
	f.Landmarks[detection.LeftPupil], f.Landmarks[detection.RightPupil] = toMouth.Apply(canonicalLeft), toMouth.Apply(canonicalRight)
	return f
}
