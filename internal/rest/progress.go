package rest

import (
	"math"
	"net/http"
	"time"

	"lipsync/internal/lipsync"
)

// progress is how far a request is, as clients see it. What has no value is
// absent.
type progress struct {
	ID          string         `json:"id"`
	Status      lipsync.Status `json:"status"`
	Percent     *int           `json:"percent,omitempty"` // nil once it failed
	Stage       lipsync.Stage  `json:"stage,omitempty"`
	SecondsLeft int            `json:"seconds_left,omitempty"`

	since time.Time
}

func (p progress) requestID() string { return p.ID }

func (p progress) openSince() time.Time { return p.since }

func (a *api) getProgress(r *http.Request, c lipsync.Caller) (progress, error) {
	q, p, err := a.service.Progress(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return progress{}, err
	}
	v := progress{ID: q.ID, Status: q.Status, Stage: p.Stage, since: openSince(q.Status, q.CreatedAt, q.StartedAt)}
	if q.Status != lipsync.Failed {
		v.Percent = &p.Percent
	}
	if !p.Ends.IsZero() {
		v.SecondsLeft = secondsUntil(p.Ends, a.service.Now())
	}
	return v, nil
}

// secondsUntil rounds up: what is not over has a second left at least.
func secondsUntil(end, now time.Time) int { return max(1, int(math.Ceil(end.Sub(now).Seconds()))) }
