package syncscore

import (
	"context"
	"fmt"
	"image"
	"slices"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/sound/score"
)

// LipReader finds the lips of a face in a frame, as detection.Detector.LocateMouth does.
type LipReader func(ctx context.Context, frame *image.YCbCr, near detection.Face) (detection.Face, bool, error)

// scoredLips has the gaps between the lips of painted mouths, in the frames in which one can hear what they should be.
type scoredLips struct {
	read             LipReader
	closures, vowels []score.Viseme
	lips             map[int]*readLips // by frame of the output
	due              []bool            // whether a mouth should be painted in a frame of the output
}

// readLips are the lips in a frame.
type readLips struct {
	people.Seen
	rest float32 // gap of the person's lips that touch, as they are read
	read bool
	gap  float32
}

// newScoredLips chooses the frames in which lips are read: none without a reader.
func newScoredLips(o Output) scoredLips {
	l := scoredLips{read: o.Read, lips: map[int]*readLips{}, due: o.Due}
	if o.Read == nil {
		return l
	}
	l.closures, l.vowels = score.Visemes(o.Spoken, o.FPS)
	rests := o.Rests()
	for _, v := range slices.Concat(l.closures, l.vowels) {
		for i := v.From; i < v.To; i++ {
			if f := o.Seen(i); f != nil {
				l.lips[i] = &readLips{Seen: *f, rest: rests[f.Person]}
			}
		}
	}
	return l
}

// add reads the lips in a painted picture.
func (l *scoredLips) add(ctx context.Context, r *readLips, picture *image.YCbCr) error {
	f, ok, err := l.read(ctx, picture, alignment.Placed(r.Box, r.ToMouth))
	if err != nil {
		return fmt.Errorf("read lips: %w", err)
	}
	if r.read = ok; ok {
		lips := f.Lips.Map(r.ToMouth.Inverse())
		r.gap = alignment.GapOf(&lips)
	}
	return nil
}

// parts returns the parts of the score of an output in which some frames are not synced.
func (l *scoredLips) parts(unsynced []int, fps float64) (s order.SyncScore) {
	l.settle()
	closures, vowels, frames := newTally(len(l.due)), newTally(len(l.due)), newTally(len(l.due))
	s.Closures = l.count(l.closures, closures, fps, func(gaps []float32) bool { return slices.Min(gaps) < alignment.Touching })
	s.Vowels = l.count(l.vowels, vowels, fps, func(gaps []float32) bool { return slices.Max(gaps) >= alignment.Parted })
	missing := make([]bool, len(l.due))
	for _, o := range unsynced {
		missing[o] = true
	}
	for o, due := range l.due {
		if !due {
			continue
		}
		frames.add(o, !missing[o])
		if s.Spoken.All++; !missing[o] {
			s.Spoken.Good++
		}
	}
	if _, known := s.Score(); known {
		s.Curve = curve(len(l.due), fps, closures, vowels, frames)
	}
	return s
}

// settle takes off from the gaps what lips that touch are read apart. In the painted frames that is no more than the gap of the middle one
// of the person's closures, even if the person never closes the lips in the video.
func (l *scoredLips) settle() {
	least := map[int32][]float32{} // gaps of the closures, by person
	for _, v := range l.closures {
		if gaps := l.gaps(v); gaps != nil {
			person := l.lips[v.Peak].Person
			least[person] = append(least[person], slices.Min(gaps))
		}
	}
	for _, r := range l.lips {
		rest := r.rest
		if all := least[r.Person]; len(all) > 0 {
			rest = min(rest, dsp.Quantile(all, .5))
		}
		r.gap -= alignment.LessAtRest(r.gap, rest)
	}
}

// gaps returns the gaps in the frames of a viseme, nil if one was not read.
func (l *scoredLips) gaps(v score.Viseme) (gaps []float32) {
	for o := v.From; o < v.To; o++ {
		r := l.lips[o]
		if r == nil || !r.read {
			return nil
		}
		gaps = append(gaps, r.gap)
	}
	return gaps
}

// count counts the visemes of a kind whose lips were read, also by frame. shown tells whether gaps show one.
func (l *scoredLips) count(all []score.Viseme, by tally, fps float64, shown func(gaps []float32) bool) (p order.Part) {
	for _, v := range all {
		gaps := l.gaps(v)
		if gaps == nil {
			continue
		}
		good := shown(gaps)
		if by.add(v.Peak, good); good {
			p.All, p.Good = p.All+1, p.Good+1
		} else {
			p.Miss((float64(v.Peak) + .5) / fps)
		}
	}
	return p
}
