// Package syncscore measures how well the painted mouths of an output follow the speech.
package syncscore

import (
	"context"
	"fmt"
	"image"
	"io"

	"lipsync/internal/domain/order"
	"lipsync/internal/render/people"
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

// Output is what is known of an output before it is painted.
type Output struct {
	Frames int
	FPS    float64
	Spoken []speech.Articulation         // the articulation of the speech in each frame
	Due    []bool                        // whether a mouth should be painted in a frame
	Seen   func(output int) *people.Seen // whose mouth can be measured in a frame, nil if there is none
	Rests  func() map[int32]float32      // see people.Faces.RestGaps
	Read   LipReader                     // nil: no lips are read
}

// Scorer holds what is measured of the frames of an output, for its score. Their pixels are those that the encoder gets.
type Scorer struct {
	faces  map[int]*scoredFace // by frame of the output
	frames []int               // of the output, in their order
	fps    float64
	scoredLips
}

// scoredFace is the face whose mouth is measured in a frame.
type scoredFace struct {
	people.Seen
	synced bool // whether a mouth was painted
	mouth  score.Mouth
}

// New chooses the frames to measure.
func New(o Output) *Scorer {
	s := &Scorer{faces: map[int]*scoredFace{}, fps: o.FPS, scoredLips: newScoredLips(o)}
	for i := range o.Frames {
		if o.Seen(i) != nil {
			s.frames = append(s.frames, i)
		}
	}
	s.frames = spread(s.frames)
	for _, i := range s.frames {
		s.faces[i] = &scoredFace{Seen: *o.Seen(i)}
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

// Measures tells whether a frame is one of those to measure.
func (s *Scorer) Measures(output int) bool { return s.faces[output] != nil || s.lips[output] != nil }

// Add measures the mouth of a painted frame. It may be called concurrently for different frames.
func (s *Scorer) Add(ctx context.Context, output int, picture *image.YCbCr) error {
	if f := s.faces[output]; f != nil {
		f.synced, f.mouth = true, score.MouthOf(picture, f.ToMouth)
	}
	if l := s.lips[output]; l != nil {
		return s.scoredLips.add(ctx, l, picture)
	}
	return nil
}

// Measured is what was measured in some frames of an output.
type Measured struct {
	Mouths map[int]score.Mouth // by frame
	Gaps   map[int]float32     // between the lips, by frame in which they are read
}

// Tell returns what was measured in the frames in [from, to).
func (s *Scorer) Tell(from, to int) Measured {
	m := Measured{map[int]score.Mouth{}, map[int]float32{}}
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

// Recall adds what an earlier attempt measured.
func (s *Scorer) Recall(p Measured) {
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
func (s *Scorer) mouths() (all []score.Frame) {
	for _, o := range s.frames {
		if f := s.faces[o]; f.synced {
			all = append(all, score.Frame{Number: o, Person: int(f.Person), Mouth: f.mouth})
		}
	}
	return all
}

// Score returns the sync score of the output, in some frames of which no mouth was painted. sound has the samples of the speech, and of silence after it.
func (s *Scorer) Score(unsynced []int, sound io.Reader) (order.SyncScore, error) {
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
