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
	Reason          string         `json:"reason,omitempty"` // see Request.Reason
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
	Frames          *Frames        `json:"frames,omitempty"`
	Unsynced        []order.Gap    `json:"unsynced,omitzero"`
	UnsyncedLeftOut int            `json:"unsynced_left_out,omitzero"`
	Warnings        []string       `json:"warnings,omitzero"`
	Sync            *SyncScore     `json:"sync,omitempty"`
	Provenance      string         `json:"provenance,omitempty"` // the standard of the output's manifest
}

// Frames counts the frames of an output.
type Frames struct {
	Total  int `json:"total"`
	Synced int `json:"synced"` // with at least one painted mouth
	Kept   int `json:"kept"`   // as in the video
}

// SyncScore says how well the mouths of an output follow its speech. What isn't known is absent.
type SyncScore struct {
	Text         string   `json:"text"`
	Score        *float64 `json:"score,omitempty"`
	Closures     *Sounds  `json:"closures,omitempty"`
	Vowels       *Sounds  `json:"vowels,omitempty"`
	SpokenFrames *spoken  `json:"spoken_frames,omitempty"`
	Confidence   *float64 `json:"confidence,omitempty"`
	OffsetFrames *int     `json:"offset_frames,omitempty"`
}

// Sounds counts heard sounds of a kind, and those that the lips show.
type Sounds struct {
	Heard    int       `json:"heard"`
	Shown    int       `json:"shown"`
	MissedAt []float64 `json:"missed_at"` // seconds
}

// spoken counts frames with speech.
type spoken struct {
	Total  int `json:"total"`
	Synced int `json:"synced"`
}

// newSyncScore returns nil if nothing is known.
func newSyncScore(s order.SyncScore) *SyncScore {
	if s.IsZero() {
		return nil
	}
	a := &SyncScore{Text: s.Says(), Closures: newSounds(s.Closures), Vowels: newSounds(s.Vowels)}
	if worst, known := s.Score(); known {
		a.Score = &worst
	}
	if p := s.Spoken; p.All > 0 {
		a.SpokenFrames = &spoken{p.All, p.Good}
	}
	if s.Known {
		a.Confidence, a.OffsetFrames = &s.Confidence, &s.Offset
	}
	return a
}

func newSounds(p order.Part) *Sounds {
	if p.All == 0 {
		return nil
	}
	return &Sounds{p.All, p.Good, append([]float64{}, p.Missed...)}
}

func (d details) requestID() string { return d.ID }

func (a *api) getDetails(r *http.Request, c lipsync.Caller) (details, error) {
	q, err := a.service.Details(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return details{}, err
	}
	order := q.Order()
	d := details{
		ID: q.ID, Status: q.Status, FailureCode: q.Failure.Code, Reason: q.Reason(), Attempts: q.Attempts, Engine: q.Engine,
		VideoSeconds: q.VideoLength.Seconds(), AudioSeconds: q.AudioLength.Seconds(), OutputSeconds: q.Length.Seconds(),
		OutputExpiresAt: a.service.OutputExpires(q).UTC(), MediaDeletedAt: q.MediaDeletedAt.UTC(), Options: order.Options, Output: order.Output, Segments: q.Options.Segments,
		Provenance: q.Provenance(), Sync: newSyncScore(q.Sync),
	}
	d.Output.UploadURL = d.Output.UploadURL.Origin()
	if d.Warnings = q.Warnings.Texts(); len(d.Warnings) == 0 && q.Frames.Total == 0 {
		d.Warnings = nil
	}
	if f := q.Frames; f.Total > 0 {
		d.Frames = &Frames{f.Total, f.Synced, f.Kept()}
		d.Unsynced, d.UnsyncedLeftOut = q.Unsynced.Gaps, q.Unsynced.LeftOut
	}
	return d, nil
}
