package render

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
)

// finish returns the facts about an output that is complete.
func (w work) finish(ctx context.Context, p plan, made painting) (r Result, err error) {
	in, frames := p.input, p.line.frames
	r = Result{
		Length: in.length(frames), Size: in.size(p.seen.shown, frames), Frames: order.Frames{Total: frames, Synced: frames - len(made.unsynced)}, Unsynced: p.unsynced(made.unsynced),
		Reused: Reused{Findings: p.seen.footage.recalled, Frames: made.resumed},
	}
	heard, err := p.heardWarning()
	if err != nil {
		return r, err
	}
	r.Warnings = in.warnings().With(heard).With(in.cutWarning(frames)).With(p.warning)
	if r.Sync, err = made.scored.sum(made.unsynced, p.samples()); err != nil {
		return r, err
	}
	if in.job.Poster {
		r.Poster, r.NoPoster = w.Media.Poster(ctx, in.video.Video, in.job.Output, r.Length/2)
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
	var levels []float64
	samples, tenth := bufio.NewReader(p.samples()), make([]byte, 2*ffmpeg.PCMRate/10)
	for {
		n, err := io.ReadFull(samples, tenth)
		if n == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return "", fmt.Errorf("speech: %w", err)
		}
		sum := 0.
		for i := 0; i+1 < n; i += 2 {
			s := float64(int16(binary.LittleEndian.Uint16(tenth[i:]))) / 32768
			sum += s * s
		}
		levels = append(levels, math.Sqrt(sum/float64(max(1, n/2))))
	}
	if len(levels) == 0 {
		return "", nil
	}
	slices.Sort(levels)
	switch loud := levels[len(levels)*9/10]; { // of the loudest tenth of the speech
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
