package wav2lip

import (
	"context"
	"image"
	"slices"

	"lipsync/internal/face"
	"lipsync/internal/render"
)

// session is the work on one video.
type session struct {
	engine *Engine
	fps    float64
	takes  map[int]*take // by track
	live   []*take       // those that may go on
	plan   render.Plan
}

// Observe finds out where the frame's faces lie.
func (s *session) Observe(index int, frame *image.YCbCr, faces []face.Face) error {
	for _, f := range faces {
		t := s.takes[f.Track]
		if t == nil {
			t = &take{}
			s.takes[f.Track] = t
		}
		if !slices.Contains(s.live, t) {
			s.live = append(s.live, t)
		}
		if t.add(index, frame, f) {
			t.align(face.Context)
		}
	}
	s.live = slices.DeleteFunc(s.live, func(t *take) bool {
		ended := t.last < index-face.Patience
		if ended {
			t.finish()
		}
		return ended
	})
	return nil
}

// Plan learns what is to be said by whom.
func (s *session) Plan(_ context.Context, p render.Plan) error {
	for _, t := range s.live {
		t.finish()
	}
	s.live, s.plan = nil, p
	return nil
}

// Mouths has the network paint the speaker's mouth on an output frame.
func (s *session) Mouths(ctx context.Context, output int, frame *image.YCbCr) ([]render.Mouth, error) {
	source := s.plan.Source(output)
	onto, ok := s.takes[s.plan.Speaker(source)].at(source)
	if !ok {
		return nil, nil
	}
	b := s.engine.brush()
	samples := s.plan.Samples
	start := windowStart(output, s.fps, columnsOf(samples.Size()/2))
	if err := b.ear.listen(&b.sound, samples, start); err != nil {
		return nil, err
	}
	b.look(frame, onto)
	if err := s.engine.infer(ctx, b); err != nil {
		return nil, err
	}
	return b.paint(frame, onto)
}
