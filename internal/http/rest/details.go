package rest

import (
	"net/http"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// details has further data of a request for its client. Fields without a value are absent.
type details struct {
	ID              string         `json:"id"`
	Status          lipsync.Status `json:"status"`
	FailureCode     failure.Reason `json:"failure_code,omitempty"`
	Attempts        int            `json:"attempts"`
	Engine          string         `json:"engine"`
	VideoSeconds    float64        `json:"video_seconds,omitzero"`
	AudioSeconds    float64        `json:"audio_seconds,omitzero"`
	OutputSeconds   float64        `json:"output_seconds,omitzero"`
	OutputExpiresAt time.Time      `json:"output_expires_at,omitzero"`
	MediaDeletedAt  time.Time      `json:"media_deleted_at,omitzero"`
	Options         order.Options  `json:"options,omitzero"`
	Output          order.Output   `json:"output,omitzero"`
	Segments        order.Segments `json:"segments,omitzero"`
	Frames          *frames        `json:"frames,omitempty"`
	Warnings        []string       `json:"warnings,omitzero"`
	Sync            *syncScore     `json:"sync,omitempty"`
	Provenance      string         `json:"provenance,omitempty"` // the standard of the output's manifest
}

// frames counts the frames of an output.
type frames struct {
	Total  int `json:"total"`
	Synced int `json:"synced"` // with at least one painted mouth
	Kept   int `json:"kept"`   // as in the video
}

// syncScore says how well the mouths of an output move with its speech.
type syncScore struct {
	Confidence   float64 `json:"confidence"`
	OffsetFrames int     `json:"offset_frames"`
}

func (d details) requestID() string { return d.ID }

func (a *api) getDetails(r *http.Request, c lipsync.Caller) (details, error) {
	q, err := a.service.Details(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return details{}, err
	}
	order := q.Order()
	d := details{
		ID: q.ID, Status: q.Status, FailureCode: q.Failure.Code, Attempts: q.Attempts, Engine: q.Engine,
		VideoSeconds: q.VideoLength.Seconds(), AudioSeconds: q.AudioLength.Seconds(), OutputSeconds: q.Length.Seconds(),
		OutputExpiresAt: a.service.OutputExpires(q).UTC(), MediaDeletedAt: q.MediaDeletedAt.UTC(), Options: order.Options, Output: order.Output, Segments: q.Options.Segments,
		Provenance: q.Provenance(),
	}
	d.Output.UploadURL = d.Output.UploadURL.Origin()
	if f := q.Frames; f.Total > 0 {
		d.Frames, d.Warnings = &frames{f.Total, f.Synced, f.Kept()}, q.Warnings.Texts()
	}
	if s := q.Sync; s.Known {
		d.Sync = &syncScore{s.Confidence, s.Offset}
	}
	return d, nil
}
