package rest

import (
	"net/http"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// analyzeBody is the JSON body of a call that names a video to analyse.
type analyzeBody struct {
	URL string `json:"url"`
}

// examination is what an analysis and an estimate have in common in an answer. Fields without a value are absent.
type examination struct {
	ID           string         `json:"id"`
	CreatedAt    time.Time      `json:"created_at"`
	Status       lipsync.Status `json:"status"`
	ErrorMessage string         `json:"error_message,omitempty"`
	StartedAt    time.Time      `json:"started_at,omitzero"`
	FinishedAt   time.Time      `json:"finished_at,omitzero"`
}

func viewExamination(q lipsync.Request) examination {
	return examination{
		ID: q.ID, CreatedAt: q.CreatedAt.UTC(), Status: q.Status, ErrorMessage: q.Failure.Sentence(),
		StartedAt: q.StartedAt.UTC(), FinishedAt: q.FinishedAt.UTC(),
	}
}

func (e examination) requestID() string { return e.ID }

func (e examination) openSince() time.Time { return openSince(e.Status, e.CreatedAt, e.StartedAt) }

// analysis is an analysis in an answer.
type analysis struct {
	examination
	*order.Analysis
}

// analyzed is the answer to a call that creates an analysis or an estimate.
type analyzed struct {
	ID     string         `json:"id"`
	Status lipsync.Status `json:"status"`
	notices
}

func (n analyzed) requestID() string { return n.ID }

func (a *api) analyze(r *http.Request, c lipsync.Caller, in sent[analyzeBody]) (analyzed, error) {
	id, err := a.service.Analyze(r.Context(), c, requests.Source{URL: in.value.URL})
	return analyzed{ID: id, Status: lipsync.Queued}, err
}

func (a *api) getAnalysis(r *http.Request, c lipsync.Caller) (analysis, error) {
	q, found, err := a.service.Analysis(r.Context(), c, r.PathValue("id"))
	return analysis{viewExamination(q), found}, err
}

func (*api) viewDeleted(q lipsync.Request) analysis { return analysis{viewExamination(q), nil} }
