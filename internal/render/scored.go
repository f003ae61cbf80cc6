package render

import (
	"context"
	"fmt"
	"image"
	"io"

	"lipsync/internal/domain/order"
	"lipsync/internal/sound/score"
	"lipsync/internal/sound/speech"
)

const (
	// mostScored is the largest number of frames of an output whose mouths are measured: at 25 frames/s, 82 s. More would hardly
	// change the score, and take time.
	mostScored = 2048
	// scoredPiece is the number of frames in each part of a longer output that is measured: at 25 frames/s, 10 s.
	scoredPiece = 256
)

// facts are what is known of an output before it is painted.
type facts struct {
	frames int
	fps    float64
	spoken []speech.Articulation    // the articulation of the speech in each frame
	due    []bool                   // whether a mouth should be painted in a frame
	face   func(output int) *seen   // whose mouth can be measured in a frame, nil if there is none
	rests  func() map[int32]float32 // see faces.restGaps
	read   LipReader                // nil: no lips are read
}

// scored holds what is measured of the frames of an output, for its score. Their pixels are those that the encoder gets.
type scored struct {
	faces  map[int]*scoredFace // by frame of the output
	frames []int               // of the output, in their order
	fps    float64
	scoredLips
}

// scoredFace is the face whose mouth is measured in a frame.
type scoredFace struct {
	seen
	synced bool // whether a mouth was painted
	mouth  score.Mouth
}

// newScored chooses the frames to measure.
func newScored(o facts) *scored {
	s := &scored{faces: map[int]*scoredFace{}, fps: o.fps, scoredLips: newScoredLips(o)}
	for i := range o.frames {
		if o.face(i) != nil {
			s.frames = append(s.frames, i)
		}
	}
	s.frames = spread(s.frames)
	for _, i := range s.frames {
		s.faces[i] = &scoredFace{seen: *o.face(i)}
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

// measures tells whether a frame is one of those to measure.
func (s *scored) measures(output int) bool { return s.faces[output] != nil || s.lips[output] != nil }

// add measures the mouth of a painted frame. It may be called concurrently for different frames.
func (s *scored) add(ctx context.Context, output int, picture *image.YCbCr) error {
	if f := s.faces[output]; f != nil {
		f.synced, f.mouth = true, score.MouthOf(picture, f.toMouth)
	}
	if l := s.lips[output]; l != nil {
		return s.scoredLips.add(ctx, l, picture)
	}
	return nil
}

// measured is what was measured in some frames of an output.
type measured struct {
	Mouths map[int]score.Mouth // by frame
	Gaps   map[int]float32     // between the lips, by frame in which they are read
}

// tell returns what was measured in the frames in [from, to).
func (s *scored) tell(from, to int) measured {
	m := measured{map[int]score.Mouth{}, map[int]float32{}}
	for o := from; o < to; o++ {
		if f := s.faces[o]; f != nil && f.synced {
			m.Mouths[o] = f.mouth
		}
		if l := s.lips[o]; l != nil && l.read {
			m.Gaps[o] = l.gap
		}
	}
	return m
}

// recall adds what an earlier attempt measured.
func (s *scored) recall(p measured) {
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

// mouths returns the mouths that were measured.
func (s *scored) mouths() (all []score.Frame) {
	for _, o := range s.frames {
		if f := s.faces[o]; f.synced {
			all = append(all, score.Frame{Number: o, Person: int(f.person), Mouth: f.mouth})
		}
	}
	return all
}

// sum returns the sync score of the output, in some frames of which no mouth was painted. sound has the samples of the speech, and of silence after it.
func (s *scored) sum(unsynced []int, sound io.Reader) (order.SyncScore, error) {
	all := s.parts(unsynced, s.fps)
	heard, err := score.Read(sound)
	if err != nil {
		return all, fmt.Errorf("score: %w", err)
	}
	if follows, ok := score.Of(s.mouths(), heard, s.fps); ok {
		all.Known, all.Confidence, all.Offset = true, order.Rounded(follows.Confidence), follows.Offset
	}
	return all, nil
}
