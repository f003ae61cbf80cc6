package rest

import (
	"net/http"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// estimate is an estimate in an answer. Fields without a value are absent.
type estimate struct {
	examination
	Problems         []order.Problem `json:"problems,omitzero"`
	VideoSeconds     float64         `json:"video_seconds,omitzero"`
	AudioSeconds     float64         `json:"audio_seconds,omitzero"`
	OutputSeconds    float64         `json:"output_seconds,omitzero"`
	Frames           int             `json:"frames,omitzero"`
	EstimatedSeconds int             `json:"estimated_seconds,omitzero"`
	Warnings         []string        `json:"warnings,omitempty"` // about the call
	place
}

func (a *api) estimate(r *http.Request, c lipsync.Caller, in sent[generateBody]) (analyzed, error) {
	p, err := in.value.params(in.ignored)
	if err != nil {
		return analyzed{}, err
	}
	id, err := a.service.Estimate(r.Context(), c, p)
	return analyzed{ID: id, Status: lipsync.Queued}, err
}

func (a *api) getEstimate(r *http.Request, c lipsync.Caller) (estimate, error) {
	e, err := a.service.Estimated(r.Context(), c, r.PathValue("id"))
	v := estimate{examination: viewExamination(e.Request), Warnings: e.Request.Warnings.Texts()}
	if found := e.Estimate; found != nil {
		v.Problems = append([]order.Problem{}, found.Problems...) // also if there are none
		v.VideoSeconds, v.AudioSeconds, v.OutputSeconds, v.Frames = found.VideoSeconds, found.AudioSeconds, found.OutputSeconds, found.Frames
		v.EstimatedSeconds, v.place = expected(e.Took), viewPlace(e.Place)
	}
	return v, err
}
