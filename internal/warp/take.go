package warp

import (
	"image"

	"lipsync/internal/face"
)

// take is a person in a shot: what is known of each of its frames.
type take struct {
	person      *person // nil until some frames are aligned
	first, last int     // frame
	aligner     face.Aligner
	pending     face.Block[sample]
	looks       []look    // by frame, without a gap, from the first on
	opening     []float32 // of each look, canonical; after Plan
}

// look is a face in one frame.
type look struct {
	to face.Similarity // from the canonical face to the frame
	mouth
}

// add takes the face in the next frame that shows it, and tells whether enough
// are pending.
func (t *take) add(index int, frame *image.YCbCr, f face.Face) (full bool) {
	eyes := face.Distance(f.Points[face.LeftPupil], f.Points[face.RightPupil])
	p := face.Cut(frame, surroundings(f, eyes), eyes)
	if p == nil {
		return false
	}
	if t.last = index; len(t.looks)+len(t.pending.Samples) == 0 {
		t.first = index
	}
	return t.pending.Add(sample{frame: index, Sample: face.Sample{Points: f.Points, Pixels: p}}, p)
}

// surroundings returns the part of the frame around a face that the engine
// looks at: the band of alignment and all that a mouth can reach.
func surroundings(f face.Face, eyes float32) image.Rectangle {
	x := (f.Points[face.LeftPupil].X + f.Points[face.RightPupil].X) / 2
	y := (f.Points[face.LeftPupil].Y + f.Points[face.RightPupil].Y) / 2
	return image.Rect(int(x-1.2*eyes), int(y-.7*eyes), int(x+1.2*eyes), int(y+2*eyes))
}

// carry is how many times as far as the nose the mouth moves against the eyes
// when the head tilts or turns. In a clip of a head that does both, the lips of a
// face mesh moved 1.16 to 1.25 times as far, up and down as sideways.
const carry = 1.2

// align finds the canonical face in the pending frames, and moves it so that
// their mouths lie on each other.
func (t *take) align() {
	pending := t.pending.Samples
	samples := make([]face.Sample, len(pending))
	for i, s := range pending {
		samples[i] = s.Sample
	}
	to := t.aligner.Align(samples)
	for i, nose := range t.aligner.Noses(samples, to) {
		s := &pending[i]
		s.moved = face.Point{X: carry * nose.X, Y: carry * nose.Y}
		s.to = face.Similarity{A: 1, X: s.moved.X, Y: s.moved.Y}.Then(to[i])
	}
}

// measure measures the pending mouths but for the last ones, and keeps them.
func (t *take) measure(last int) {
	pending := t.pending.Samples
	until := len(pending) - last
	for i, m := range mouths(pending) {
		if i >= t.pending.Done && i < until {
			t.keep(pending[i], m)
		}
	}
	t.pending.Finish(until)
}

// keep adds one finished frame; frames that were missed get what lies between.
func (t *take) keep(s sample, m mouth) {
	l := look{to: s.to, mouth: m}
	if len(t.looks) > 0 {
		last, at := t.looks[len(t.looks)-1], t.first+len(t.looks)-1
		for k := at + 1; k < s.frame; k++ {
			t.looks = append(t.looks, between(last, l, float32(k-at)/float32(s.frame-at)))
		}
	}
	t.person.see(t, l, s.Pixels)
	t.looks = append(t.looks, l)
}

// between returns the look at f of the way from a to b.
func between(a, b look, f float32) look {
	mix := func(p, q float32) float32 { return p + (q-p)*f }
	out := a
	out.to = a.to.Towards(b.to, f)
	out.left = face.Point{X: mix(a.left.X, b.left.X), Y: mix(a.left.Y, b.left.Y)}
	out.right = face.Point{X: mix(a.right.X, b.right.X), Y: mix(a.right.Y, b.right.Y)}
	out.top, out.bottom, out.nose = mix(a.top, b.top), mix(a.bottom, b.bottom), mix(a.nose, b.nose)
	out.valley, out.dip = mix(a.valley, b.valley), mix(a.dip, b.dip)
	for k := range out.line {
		out.line[k] = mix(a.line[k], b.line[k])
	}
	return out
}
