package wav2lip

import (
	"image"

	"lipsync/internal/face"
)

// take is a person in a shot: where the canonical face lies in each of its
// frames.
type take struct {
	first, last int // frame
	aligner     face.Aligner
	pending     face.Block[sighting]
	onto        []face.Similarity // by frame, from the first on; of scale 0 where the face isn't there
}

// sighting is a face in one frame.
type sighting struct {
	frame int
	face.Sample
}

// add takes the face in the next frame that shows it, and tells whether enough
// are pending.
func (t *take) add(index int, frame *image.YCbCr, f face.Face) (full bool) {
	eyes := face.Distance(f.Points[face.LeftPupil], f.Points[face.RightPupil])
	p := face.Cut(frame, surroundings(f, eyes), eyes)
	if p == nil {
		return false
	}
	if t.last = index; len(t.onto)+len(t.pending.Samples) == 0 {
		t.first = index
	}
	return t.pending.Add(sighting{index, face.Sample{Points: f.Points, Pixels: p}}, p)
}

// surroundings returns the part of the frame that alignment looks at: from the
// brows to the base of the nose, and what a bad landmark may be off.
func surroundings(f face.Face, eyes float32) image.Rectangle {
	x := (f.Points[face.LeftPupil].X + f.Points[face.RightPupil].X) / 2
	y := (f.Points[face.LeftPupil].Y + f.Points[face.RightPupil].Y) / 2
	return image.Rect(int(x-1.1*eyes), int(y-.7*eyes), int(x+1.1*eyes), int(y+1.1*eyes))
}

// align aligns the pending frames but for the last ones.
func (t *take) align(last int) {
	pending := t.pending.Samples
	until := len(pending) - last
	samples := make([]face.Sample, len(pending))
	for i, s := range pending {
		samples[i] = s.Sample
	}
	onto := t.aligner.Align(samples)
	for i := t.pending.Done; i < until; i++ {
		t.keep(pending[i].frame, onto[i])
	}
	t.pending.Finish(until)
}

// keep adds one aligned frame; those in which the face was only missed get what
// lies between.
func (t *take) keep(frame int, onto face.Similarity) {
	gap := frame - t.first - len(t.onto)
	for i := range gap {
		var between face.Similarity
		if gap <= face.LongestGap {
			before := t.onto[len(t.onto)-1]
			between = before.Towards(onto, 1/float32(gap-i+1))
		}
		t.onto = append(t.onto, between)
	}
	t.onto = append(t.onto, onto)
}

// finish aligns what is left of a take that ended.
func (t *take) finish() {
	if t.pending.Done < len(t.pending.Samples) {
		t.align(0)
	}
	t.pending, t.aligner = face.Block[sighting]{}, face.Aligner{}
}

// at returns where the canonical face lies in a frame, and whether it is there.
func (t *take) at(frame int) (face.Similarity, bool) {
	if t == nil || frame < t.first || frame >= t.first+len(t.onto) {
		return face.Similarity{}, false
	}
	s := t.onto[frame-t.first]
	return s, s.Scale() > 0
}
