package render

import (
	"fmt"

	"lipsync/internal/domain/order"
	"lipsync/internal/sound/speech"
)

// finish adds the facts about an output that is complete to a result.
func (p plan) finish(made painting, r Result) (_ Result, err error) {
	in, frames := p.input, p.line.Frames
	r.Length, r.Size = in.length(frames), in.size(p.seen.shown, frames)
	r.Frames, r.Unsynced = order.Frames{Total: frames, Synced: frames - len(made.unsynced)}, p.unsynced(made.unsynced)
	r.Poster, r.NoPoster = made.poster, made.noPoster
	heard, err := p.heardWarning()
	if err != nil {
		return r, err
	}
	r.Warnings = in.warnings().With(heard).With(in.cutWarning(frames)).With(p.warning)
	if r.Sync, err = made.scored.Score(made.unsynced, p.samples()); err != nil {
		return r, err
	}
	return r, nil
}

// These are the levels of usual speech, as roots of mean squares of its loud tenths of a second: -46 and -3 dB of full scale. Broadcasts
// have -23 dB (EBU R 128), telephones and phones -40 to -10. Below noSpeech, -66 dB, is only the noise of a recorder.
const (
	noSpeech    = .0005
	leastSpeech = .005
	mostSpeech  = .7
)

// heardWarning returns a warning if nothing is heard in the speech, or if it is far from as loud as usual.
func (p plan) heardWarning() (order.Warnings, error) {
	loud, some, err := speech.Loudness(p.samples())
	switch {
	case err != nil:
		return "", fmt.Errorf("speech: %w", err)
	case !some:
		return "", nil
	case loud < noSpeech:
		return order.NobodySpeaks, nil
	case loud < leastSpeech:
		return order.QuietSpeech, nil
	case loud > mostSpeech:
		return order.LoudSpeech, nil
	}
	return "", nil
}

// cutWarning returns a warning if a segment of a video ends after it. A preview cuts segments on purpose.
func (in input) cutWarning(frames int) order.Warnings {
	if n := len(in.job.Segments); n > 0 && !in.video.Still && in.job.Options.Preview.Length == 0 && in.frameAt(in.job.Segments[n-1].End) > frames+1 {
		return order.SegmentIsCut
	}
	return ""
}
