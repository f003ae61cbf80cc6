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

// Engine is a render.Engine.
type Engine struct {
	Cores int // that one job uses, at least 1
}

// Workers implements render.Engine.
func (e Engine) Workers() int { return e.Cores }

// Begin starts on one video.
func (Engine) Begin(v render.Video) (render.Session, error) {
	return &session{fps: v.FPS, takes: map[int]*take{}}, nil
}

// session is the work on one video.
type session struct {
	fps    float64
	takes  map[int]*take // by track
	live   []*take       // those that may go on, in order of appearance
	people []*person
	known  []acquaintance // those who were seen last
	cast   []role         // by output frame, after Plan
}

// Observe gathers the mouths of the frame's faces.
func (s *session) Observe(index int, frame *image.YCbCr, faces []face.Face) error {
	for _, f := range faces {
		t := s.takes[f.Track]
		if t == nil {
			t = &take{}
			s.takes[f.Track] = t
			s.live = append(s.live, t)
		}
		if t.add(index, frame, f) {
			s.process(t, face.Context)
		}
	}
	s.live = slices.DeleteFunc(s.live, func(t *take) bool {
		ended := t.last < index-face.Patience
		if ended {
			s.finish(t)
		}
		return ended
	})
	return nil
}

// process finishes a take's pending frames but for the last ones.
func (s *session) process(t *take, last int) {
	t.align()
	if t.person == nil {
		s.recognise(t)
	}
	t.measure(last)
	s.share()
}

// finish finishes all frames of a take that ended.
func (s *session) finish(t *take) {
	if t.pending.Done < len(t.pending.Samples) {
		s.process(t, 0)
	}
	t.pending, t.aligner = face.Block[sample]{}, face.Aligner{}
}

// share keeps all banks together within their budget.
func (s *session) share() {
	const budget = 96 << 20 // bytes
	total := 0
	var largest *bank
	for _, p := range s.people {
		total += p.bank.bytes()
		if largest == nil || p.bank.bytes() > largest.bytes() {
			largest = &p.bank
		}
	}
	if total > budget {
		largest.capacity = max(len(largest.examples)/2, 1)
		largest.thin()
	}
}

// Plan decides for each output frame what its mouth becomes.
func (s *session) Plan(ctx context.Context, p render.Plan) error {
	for _, t := range s.live {
		s.finish(t)
	}
	s.live = nil
	for _, p := range s.people {
		p.sumUp()
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
	example    int     // of the person's bank: the mouth that is shown; -1 for the frame's own
	open, want float32 // how far that mouth is open, and is to be
}
