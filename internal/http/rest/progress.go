package rest

import (
	"math"
	"net/http"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
)

// progress is the progress of a request in an answer. Fields without a value are absent.
type progress struct {
	ID          string         `json:"id"`
	Status      lipsync.Status `json:"status"`
	Percent     *int           `json:"percent,omitempty"` // nil if the request failed
	Stage       order.Stage    `json:"stage,omitempty"`
	SecondsLeft int            `json:"seconds_left,omitempty"`
	Reason      string         `json:"reason,omitempty"` // see Request.Reason
	place

	since time.Time
}

// place is the place of a waiting request in the queue.
type place struct {
	QueuePosition int `json:"queue_position,omitempty"`
	ETASeconds    int `json:"eta_seconds,omitempty"`
}

func viewPlace(p service.Place) place { return place{p.Position, expected(p.Left)} }

func (p progress) requestID() string { return p.ID }

func (p progress) openSince() time.Time { return p.since }

func (a *api) getProgress(r *http.Request, c lipsync.Caller) (progress, error) {
	q, p, at, err := a.service.Progress(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return progress{}, err
	}
	v := progress{ID: q.ID, Status: q.Status, Stage: p.Stage, Reason: q.Reason(), place: viewPlace(at), since: openSince(q.Status, q.CreatedAt, q.StartedAt)}
	if q.Status != lipsync.Failed {
		v.Percent = &p.Percent
	}
	if !p.Ends.IsZero() {
		v.SecondsLeft = secondsUntil(p.Ends, a.service.Now())
	}
	return v, nil
}

// secondsUntil returns the seconds from now to end, rounded up, and at least 1.
func secondsUntil(end, now time.Time) int { return max(1, int(math.Ceil(end.Sub(now).Seconds()))) }

// expected returns an expected time in seconds, rounded, and at least 1. It returns 0 for 0, which is unknown.
func expected(d time.Duration) int {
	if d == 0 {
		return 0
	}
	return max(1, int(math.Round(d.Seconds())))
}
