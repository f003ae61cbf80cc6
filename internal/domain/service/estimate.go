package service

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Estimated is a request for an Estimate.
type Estimated struct {
	lipsync.Request
	*order.Estimate // nil unless the request is completed and the Estimate still kept

	Took  time.Duration // expected time that a worker will take for the estimated request; 0 if unknown
	Place Place         // of the estimated request, if it were made now
}

// Estimated returns the caller's request for an Estimate. It returns NotFound for requests of other accounts.
func (s *Service) Estimated(ctx context.Context, c lipsync.Caller, id string) (e Estimated, err error) {
	e.Request, err = s.findOf(ctx, c.Account, lipsync.ToEstimate, id, "estimate not found")
	if err != nil {
		return e, err
	}
	found := new(order.Estimate)
	if kept, err := s.readOutput(ctx, e.Request, found); !kept {
		return e, err
	}
	if e.Estimate = found; len(found.Problems) > 0 {
		return e, nil
	}
	speeds, err := s.Store.Speeds.All(ctx)
	if err != nil {
		return e, err
	}
	next := lipsync.Request{Account: c.Account, Engine: e.Engine, Class: e.Class, CreatedAt: s.Now()}
	if next.Class == lipsync.Small {
		next.Class = lipsync.ClassOfWork(found.Size)
	}
	e.Took = s.speed(speeds, next).Time(found.Size)
	contest, err := s.contest(ctx, next)
	if contest != nil {
		idle := 0
		if s.Pooled && !(s.SmallWorkers > 0 && e.Class == lipsync.Small) { // the runner that made the estimate may wait for the next request
			idle = idleOf(*contest, next.CreatedAt, e.FinishedAt)
		}
		e.Place = s.place(next, contest, speeds, e.Took, idle)
	}
	return e, err
}

// CompleteEstimate stores the Estimate of a claimed request, and makes the request completed; see Complete.
func (w *Work) CompleteEstimate(ctx context.Context, r lipsync.Request, e order.Estimate) error {
	return w.completeJSON(ctx, r, e)
}

// minuteSize is the size of a minute of 1080p at 25 frames/s, as Speed counts it: each frame is analysed and painted.
const minuteSize = 2 * 60 * 25 * 1920 * 1080 / 1000

// Minutes returns how long a worker takes for a minute of 1080p at 25 frames/s, by engine. Engines of which no request was
// completed are absent.
func (s *Service) Minutes(ctx context.Context) (map[string]time.Duration, error) {
	speeds, err := s.Store.Speeds.All(ctx)
	minutes := map[string]time.Duration{}
	for of := range speeds {
		minutes[of.Engine] = speeds.Sum(func(o lipsync.EngineClass) bool { return o.Engine == of.Engine }).Time(minuteSize)
	}
	return minutes, err
}

// NoteSpeed records how long a worker took for a completed request, from its claim to its end. The size is that of Speed.
func (s *Service) NoteSpeed(ctx context.Context, r lipsync.Request, size int64, took time.Duration) error {
	return s.Store.Speeds.Note(ctx, r.Engine, r.Class, lipsync.NewSpeed(size, took))
}
