package render

import (
	"context"
	"fmt"

	"lipsync/internal/domain/order"
	"lipsync/internal/sound/score"
)

// finish returns the facts about an output that is complete.
func (w work) finish(ctx context.Context, p plan, made painting) (r Result, err error) {
	in, frames := p.input, p.line.frames
	r = Result{
		Length: in.length(frames), Size: in.size(p.seen.shown, frames), Frames: order.Frames{Total: frames, Synced: made.synced},
		Warnings: in.warnings().With(p.warning), Reused: Reused{Findings: p.seen.footage.recalled, Frames: made.resumed},
	}
	if r.Sync, err = p.syncScore(made); err != nil {
		return r, err
	}
	if in.job.Poster {
		r.Poster, r.NoPoster = w.Media.Poster(ctx, in.video.Video, in.job.Output, r.Length/2)
	}
	return r, nil
}

// syncScore returns the sync score of an output.
func (p plan) syncScore(made painting) (order.SyncScore, error) {
	fps := p.input.video.Video.Rate.Float()
	s := made.scored.parts(made.kept, fps)
	sound, err := score.Read(p.samples())
	if err != nil {
		return s, fmt.Errorf("score: %w", err)
	}
	if follows, ok := score.Of(made.scored.measured(), sound, fps); ok {
		s.Known, s.Confidence, s.Offset = true, round(follows.Confidence), follows.Offset
	}
	return s, nil
}
