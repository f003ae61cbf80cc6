package worker

import (
	"log/slog"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/render"
	"lipsync/internal/render/intake"
)

// observer observes a render or an analysis for an attempt.
type observer struct {
	meter *meter
	bound *bound
	whole bool // whether the whole video is used, however long the audio is
	log   *slog.Logger
}

var _ render.Observer = (*observer)(nil)

func newObserver(r lipsync.Request, m *meter, b *bound, log *slog.Logger) *observer {
	return &observer{m, b, r.IsAnalysis() || r.Options.SyncMode == order.Pad || r.Options.Segments != nil, log}
}

// Measured bounds the time of the attempt by the lengths of the media. It ends an attempt at a large request by a worker of small ones.
func (o *observer) Measured(video, audio time.Duration, size int64) {
	if o.bound.promise.w.c.Work.Duty == lipsync.DoesSmall && lipsync.ClassOfWork(size) == lipsync.Large {
		o.bound.end(errTooBig)
	}
	length := max(video, audio)
	if video == 0 && o.whole { // it may be the longest video
		length = intake.DefaultLimits().Duration
	}
	o.bound.set(renderTime(length), errTooSlow)
}

func (o *observer) Unkept(piece int, err error) {
	o.log.Warn("a piece was not kept", "piece", piece, "error", err)
}

func (o *observer) Progress(p render.Progress) {
	if p.Stage != o.meter.read().Stage {
		o.meter.enter(p.Stage)
	}
	o.meter.advance(p.Done, p.Total)
}
