package render

import (
	"context"

	"lipsync/internal/sound/score"
)

const (
	// mostScored is the largest number of frames of an output whose mouths are measured: at 25 frames/s, 82 s. More would hardly
	// change the score, and take time.
	mostScored = 2048
	// scoredPiece is the number of frames in each part of a longer output that is measured: at 25 frames/s, 10 s.
	scoredPiece = 256
)

// scored holds what is measured of the frames of an output, for its score. Their pixels are those that the encoder gets.
type scored struct {
	faces  map[int]*scoredFace // by frame of the output
	frames []int               // of the output, in their order
	scoredLips
}

// scoredFace is the face whose mouth is measured in a frame.
type scoredFace struct {
	seen
	synced bool // whether a mouth was painted
	mouth  score.Mouth
}

// newScored chooses the frames to measure.
func (p plan) newScored(read LipReader) *scored {
	s := &scored{faces: map[int]*scoredFace{}, scoredLips: p.newScoredLips(read)}
	for o := range p.line.frames {
		if p.face(o) != nil {
			s.frames = append(s.frames, o)
		}
	}
	s.frames = spread(s.frames)
	for _, o := range s.frames {
		s.faces[o] = &scoredFace{seen: *p.face(o)}
	}
	return s
}

// spread returns the frames or, of too many, pieces that are spread evenly over all.
func spread(frames []int) []int {
	pieces, most := (len(frames)+scoredPiece-1)/scoredPiece, mostScored/scoredPiece
	if pieces <= most {
		return frames
	}
	var kept []int
	for i := range most {
		from := i * pieces / most * scoredPiece
		kept = append(kept, frames[from:min(from+scoredPiece, len(frames))]...)
	}
	return kept
}

// add measures the mouth of a painted frame, if it is one of the frames to measure. The blender painted
// it. add may be called concurrently for different frames.
func (s *scored) add(ctx context.Context, t *task, b *blender) error {
	f, l := s.faces[t.output], s.lips[t.output]
	if f == nil && l == nil || !t.synced {
		return nil
	}
	b.see(t.frame)
	if f != nil {
		f.synced, f.mouth = true, score.MouthOf(&b.picture, f.toMouth)
	}
	if l != nil {
		return s.scoredLips.add(ctx, l, &b.picture)
	}
	return nil
}

// tell sets what a piece tells of what was measured in its frames.
func (s *scored) tell(p *pieceFacts) {
	p.Mouths, p.Gaps = map[int]score.Mouth{}, map[int]float32{}
	for o := p.From; o < p.To; o++ {
		if f := s.faces[o]; f != nil && f.synced {
			p.Mouths[o] = f.mouth
		}
		if l := s.lips[o]; l != nil && l.read {
			p.Gaps[o] = l.gap
		}
	}
}

// recall adds what an earlier attempt measured.
func (s *scored) recall(p pieceFacts) {
	for o, m := range p.Mouths {
		if f := s.faces[o]; f != nil {
			f.synced, f.mouth = true, m
		}
	}
	for o, gap := range p.Gaps {
		if l := s.lips[o]; l != nil {
			l.read, l.gap = true, gap
		}
	}
}

// measured returns the mouths that were measured.
func (s *scored) measured() (all []score.Frame) {
	for _, o := range s.frames {
		if f := s.faces[o]; f.synced {
			all = append(all, score.Frame{Number: o, Person: int(f.person), Mouth: f.mouth})
		}
	}
	return all
}
