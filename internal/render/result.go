package render

import (
	"context"
	"fmt"
	"io"
	"math"

	"lipsync/internal/domain/order"
	"lipsync/internal/sound/score"
)

const (
	// mostScored is the largest number of frames of an output whose mouths are measured: at 25 frames/s, 82 s. More would hardly
	// change the score, and take time.
	mostScored = 2048
	// scoredPiece is the number of frames in each part of a longer output that is measured: at 25 frames/s, 10 s.
	scoredPiece = 256
)

// scored holds the mouths of some frames of an output, for its score. Their pixels are those that the encoder gets.
type scored struct {
	faces  map[int]*scoredFace // by frame of the output
	frames []int               // of the output, in their order
}

// scoredFace is the face whose mouth is measured in a frame.
type scoredFace struct {
	seen
	synced bool // whether a mouth was painted
	mouth  score.Mouth
}

// newScored chooses the frames to measure. faceOf returns the face of an output frame in which a mouth may be painted, nil for none.
func newScored(outputs int, faceOf func(output int) *seen) *scored {
	s := &scored{faces: map[int]*scoredFace{}}
	for o := range outputs {
		if faceOf(o) != nil {
			s.frames = append(s.frames, o)
		}
	}
	s.frames = spread(s.frames)
	for _, o := range s.frames {
		s.faces[o] = &scoredFace{seen: *faceOf(o)}
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
func (s *scored) add(t *task, b *blender) {
	f := s.faces[t.output]
	if f == nil || !t.synced {
		return
	}
	b.see(t.frame)
	f.synced, f.mouth = true, score.MouthOf(&b.picture, f.toMouth)
}

// mouths returns the mouths that were measured in the output frames in [from, to).
func (s *scored) mouths(from, to int) map[int]score.Mouth {
	all := map[int]score.Mouth{}
	for o := from; o < to; o++ {
		if f := s.faces[o]; f != nil && f.synced {
			all[o] = f.mouth
		}
	}
	return all
}

// recall adds the mouths that an earlier attempt measured.
func (s *scored) recall(mouths map[int]score.Mouth) {
	for o, m := range mouths {
		if f := s.faces[o]; f != nil {
			f.synced, f.mouth = true, m
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

// finish returns the facts about an output that is complete.
func (w work) finish(ctx context.Context, p plan, made painting) (r Result, err error) {
	in, frames := p.input, p.line.frames
	r = Result{
		Length: in.length(frames), Size: in.size(p.seen.shown, frames), Frames: order.Frames{Total: frames, Synced: made.synced},
		Warnings: in.warnings().With(p.warning), Reused: Reused{Findings: p.seen.footage.recalled, Frames: made.resumed},
	}
	if r.Sync, err = syncScore(made.mouths, p.samples(), in.video.Video.Rate.Float()); err != nil {
		return r, err
	}
	if in.job.Poster {
		r.Poster, r.NoPoster = w.Media.Poster(ctx, in.video.Video, in.job.Output, r.Length/2)
	}
	return r, nil
}

// syncScore returns the sync score of an output. samples are those of the speech, in the format of score.Read.
func syncScore(mouths []score.Frame, samples io.Reader, fps float64) (order.SyncScore, error) {
	sound, err := score.Read(samples)
	if err != nil {
		return order.SyncScore{}, fmt.Errorf("score: %w", err)
	}
	s, ok := score.Of(mouths, sound, fps)
	if !ok {
		return order.SyncScore{}, nil
	}
	return order.SyncScore{Known: true, Confidence: math.Round(s.Confidence*1000) / 1000, Offset: s.Offset}, nil
}
