// Package warp is the engine that needs nothing but the video itself. It moves
// the mouth that each frame has, and where a person already speaks it first
// replaces that mouth by one from another frame of the same person, after
// Bregler, Covell and Slaney, "Video Rewrite" (SIGGRAPH 1997).
package warp

import (
	"context"
	"image"
	"slices"

	"lipsync/internal/face"
	"lipsync/internal/render"
)

// Engine is a render.Engine. The zero value is ready to use.
type Engine struct{}

// Begin starts on one video.
func (Engine) Begin(v render.Video) (render.Session, error) {
	return &session{fps: v.FPS, takes: map[int]*take{}}, nil
}

// session is the work on one video.
type session struct {
	fps   float64
	takes map[int]*take // by track
	cast  []role        // by output frame, after Plan
}

// Observe gathers the mouths of the frame's faces.
func (s *session) Observe(index int, frame *image.YCbCr, faces []face.Face) error {
	for _, f := range faces {
		t := s.takes[f.Track]
		if t == nil {
			t = &take{bank: bank{capacity: bankSize}}
			s.takes[f.Track] = t
		}
		t.add(index, frame, f)
	}
	for _, t := range s.takes {
		if len(t.pending) > 0 && t.pending[len(t.pending)-1].frame < index-patience {
			t.flush()
		}
	}
	s.share()
	return nil
}

// patience is how many frames without its face end a track.
const patience = 30

// share keeps all banks together within their budget.
func (s *session) share() {
	const budget = 96 << 20 // bytes
	total := 0
	var largest *bank
	for _, t := range s.takes {
		total += t.bank.bytes()
		if largest == nil || t.bank.bytes() > largest.bytes() {
			largest = &t.bank
		}
	}
	if total > budget {
		largest.capacity = max(len(largest.examples)/2, 1)
		largest.thin()
	}
}

// Plan decides for each output frame what its mouth becomes.
func (s *session) Plan(ctx context.Context, p render.Plan) error {
	for _, t := range s.takes {
		t.flush()
		t.finish()
	}
	wanted := p.Speech.Openings(s.fps, p.Frames)
	s.cast = make([]role, p.Frames)
	for from := 0; from < p.Frames; {
		track := p.Speaker(p.Source(from))
		to := from + 1
		for to < p.Frames && p.Speaker(p.Source(to)) == track {
			to++
		}
		if t := s.takes[track]; t != nil {
			if err := t.act(ctx, wanted[from:to], func(i int) int { return p.Source(from + i) }, s.cast[from:to]); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// Mouths paints the speaker's mouth on an output frame.
func (s *session) Mouths(_ context.Context, output int, frame *image.YCbCr) ([]render.Mouth, error) {
	c := s.cast[output]
	if c.take == nil {
		return nil, nil
	}
	m, ok := paint(frame, c)
	if !ok {
		return nil, nil
	}
	return []render.Mouth{m}, nil
}

// role is what is to become of the mouth in one output frame.
type role struct {
	take       *take
	look       int     // of take.looks: the face as it is in the frame
	example    int     // of take.bank.examples: the mouth that is shown; -1 for the frame's own
	open, want float32 // how far that mouth is open, and is to be
}

// take is a person in a shot: what is known of each of its frames, and examples
// of its mouth.
type take struct {
	aligner face.Aligner
	pending []sample // frames that are not finished, with those before that their smoothing needs
	done    int      // of pending that are finished
	looks   []look   // by frame, without a gap, from the first on
	first   int      // frame of looks[0]
	bank    bank
	darks   [][3]float32 // colours of the inside of the mouth
	persona
}

// look is a face in one frame.
type look struct {
	to face.Similarity // from the canonical face to the frame
	mouth
}

const (
	blockFrames = 96       // that are aligned together
	blockBytes  = 32 << 20 // of their pixels, at most
	contextual  = 12       // frames before and after that smoothing needs
)

// add takes the face in the next frame that shows it.
func (t *take) add(index int, frame *image.YCbCr, f face.Face) {
	eyes := face.Distance(f.Points[face.LeftPupil], f.Points[face.RightPupil])
	p := face.Cut(frame, surroundings(f, eyes), eyes)
	if p == nil {
		return
	}
	t.pending = append(t.pending, sample{frame: index, Sample: face.Sample{Points: f.Points, Pixels: p}})
	n := len(t.pending) - t.done
	if n >= blockFrames || n > 2*contextual && n*len(p.Y)*3/2 > blockBytes {
		t.process(contextual)
	}
}

// surroundings returns the part of the frame around a face that the engine
// looks at: the band of alignment and all that a mouth can reach.
func surroundings(f face.Face, eyes float32) image.Rectangle {
	x := (f.Points[face.LeftPupil].X + f.Points[face.RightPupil].X) / 2
	y := (f.Points[face.LeftPupil].Y + f.Points[face.RightPupil].Y) / 2
	return image.Rect(int(x-1.2*eyes), int(y-.7*eyes), int(x+1.2*eyes), int(y+2*eyes))
}

// flush finishes all frames of a track that ended.
func (t *take) flush() {
	if t.done < len(t.pending) {
		t.process(0)
	}
	t.pending, t.done = nil, 0
}

// process finishes the pending frames but for the last ones.
func (t *take) process(last int) {
	samples := make([]face.Sample, len(t.pending))
	for i, s := range t.pending {
		samples[i] = s.Sample
	}
	for i, to := range t.aligner.Align(samples) {
		t.pending[i].to = to
	}
	until := len(t.pending) - last
	for i, m := range mouths(t.pending) {
		if i >= t.done && i < until {
			t.keep(t.pending[i], m)
		}
	}
	drop := max(until-contextual, 0)
	t.pending = slices.Clone(t.pending[drop:])
	t.done = until - drop
}

// keep adds one finished frame; frames that were missed get what lies between.
func (t *take) keep(s sample, m mouth) {
	l := look{to: s.to, mouth: m}
	if len(t.looks) == 0 {
		t.first = s.frame
	} else {
		last, at := t.looks[len(t.looks)-1], t.first+len(t.looks)-1
		for k := at + 1; k < s.frame; k++ {
			t.looks = append(t.looks, between(last, l, float32(k-at)/float32(s.frame-at)))
		}
	}
	t.bank.add(len(t.looks), l, s.Pixels)
	t.looks = append(t.looks, l)
	if len(t.looks)%8 == 1 && len(t.darks) < 400 {
		t.darks = append(t.darks, darkest(s.Pixels, l))
	}
}

// between returns the look at f of the way from a to b.
func between(a, b look, f float32) look {
	mix := func(p, q float32) float32 { return p + (q-p)*f }
	out := a
	out.to = face.Similarity{A: mix(a.to.A, b.to.A), B: mix(a.to.B, b.to.B), X: mix(a.to.X, b.to.X), Y: mix(a.to.Y, b.to.Y)}
	out.left = face.Point{X: mix(a.left.X, b.left.X), Y: mix(a.left.Y, b.left.Y)}
	out.right = face.Point{X: mix(a.right.X, b.right.X), Y: mix(a.right.Y, b.right.Y)}
	out.top, out.bottom, out.nose = mix(a.top, b.top), mix(a.bottom, b.bottom), mix(a.nose, b.nose)
	out.valley, out.dip = mix(a.valley, b.valley), mix(a.dip, b.dip)
	for k := range out.line {
		out.line[k] = mix(a.line[k], b.line[k])
	}
	return out
}
