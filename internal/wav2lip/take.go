package wav2lip

import (
	"image"
	"slices"

	"lipsync/internal/face"
)

// take is a person in a shot: where the canonical face lies in each of its
// frames.
type take struct {
	first, last int // frame
	aligner     face.Aligner
	pending     []sighting        // frames that are not aligned, with those before that smoothing needs
	done        int               // of pending that are aligned
	onto        []face.Similarity // by frame, from the first on; of scale 0 where the face wasn't seen
}

// sighting is a face in one frame.
type sighting struct {
	frame int
	face.Sample
}

const (
	blockFrames = 96       // that are aligned together
	blockBytes  = 32 << 20 // of their pixels, at most
	contextual  = 12       // frames before and after that smoothing needs
)

// add takes the face in the next frame that shows it, and tells whether enough
// are pending.
func (t *take) add(index int, frame *image.YCbCr, f face.Face) (full bool) {
	eyes := face.Distance(f.Points[face.LeftPupil], f.Points[face.RightPupil])
	p := face.Cut(frame, surroundings(f, eyes), eyes)
	if p == nil {
		return false
	}
	if t.last = index; len(t.onto)+len(t.pending) == 0 {
		t.first = index
	}
	t.pending = append(t.pending, sighting{index, face.Sample{Points: f.Points, Pixels: p}})
	n := len(t.pending) - t.done
	return n >= blockFrames || n > 2*contextual && n*len(p.Y)*3/2 > blockBytes
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
	until := len(t.pending) - last
	samples := make([]face.Sample, len(t.pending))
	for i, s := range t.pending {
		samples[i] = s.Sample
	}
	onto := t.aligner.Align(samples)
	for i := t.done; i < until; i++ {
		unseen := t.pending[i].frame - t.first - len(t.onto)
		t.onto = append(t.onto, make([]face.Similarity, unseen)...)
		t.onto = append(t.onto, onto[i])
	}
	drop := max(until-contextual, 0)
	t.pending = slices.Clone(t.pending[drop:])
	t.done = until - drop
}

// finish aligns what is left of a take that ended.
func (t *take) finish() {
	if t.done < len(t.pending) {
		t.align(0)
	}
	t.pending, t.done, t.aligner = nil, 0, face.Aligner{}
}

// at returns where the canonical face lies in a frame, and whether it is there.
func (t *take) at(frame int) (face.Similarity, bool) {
	if t == nil || frame < t.first || frame >= t.first+len(t.onto) {
		return face.Similarity{}, false
	}
	s := t.onto[frame-t.first]
	return s, s.Scale() > 0
}
