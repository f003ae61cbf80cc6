package rest

import (
	"net/http"
	"time"

	"lipsync/internal/lipsync"
)

// estimate is an estimate in an answer. Fields without a value are absent.
type estimate struct {
	ID               string            `json:"id"`
	CreatedAt        time.Time         `json:"created_at"`
	Status           lipsync.Status    `json:"status"`
	ErrorMessage     string            `json:"error_message,omitempty"`
	StartedAt        time.Time         `json:"started_at,omitzero"`
	FinishedAt       time.Time         `json:"finished_at,omitzero"`
	Problems         []lipsync.Problem `json:"problems,omitzero"`
	VideoSeconds     float64           `json:"video_seconds,omitzero"`
	AudioSeconds     float64           `json:"audio_seconds,omitzero"`
	OutputSeconds    float64           `json:"output_seconds,omitzero"`
	Frames           int               `json:"frames,omitzero"`
	EstimatedSeconds int               `json:"estimated_seconds,omitzero"`
	place
}

func (e estimate) requestID() string { return e.ID }

func (e estimate) openSince() time.Time { return openSince(e.Status, e.CreatedAt, e.StartedAt) }

func (a *api) estimate(r *http.Request, c lipsync.Caller, in generateBody) (analyzed, error) {
	p, err := in.params()
	if err != nil {
		return analyzed{}, err
	}
	id, err := a.service.Estimate(r.Context(), c, p)
	return analyzed{ID: id, Status: lipsync.Queued}, err
}

func (a *api) getEstimate(r *http.Request, c lipsync.Caller) (estimate, error) {
	e, err := a.service.Estimated(r.Context(), c, r.PathValue("id"))
	v := estimate{
		ID: e.ID, CreatedAt: e.CreatedAt.UTC(), Status: e.Status, ErrorMessage: e.Failure.Sentence(),
		StartedAt: e.StartedAt.UTC(), FinishedAt: e.FinishedAt.UTC(),
	}
	if found := e.Estimate; found != nil {
		v.Problems = append([]lipsync.Problem{}, found.Problems...) // also if there are none
		v.VideoSeconds, v.AudioSeconds, v.OutputSeconds, v.Frames = found.VideoSeconds, found.AudioSeconds, found.OutputSeconds, found.Frames
		v.EstimatedSeconds, v.place = expected(e.Took), viewPlace(e.Place)
	}
	return v, err
}
