package rest

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
)

// uploadBody is the JSON body of a call that announces an upload.
type uploadBody struct {
	Type        failure.MediaKind `json:"type"`
	Size        whole             `json:"size"` // bytes
	ContentType string            `json:"content_type"`
	FileName    string            `json:"file_name"`
}

// whole is a whole number as JSON Schema defines it, which includes 1e6 and 5.0.
type whole int64

func (w *whole) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		var f float64
		if err := json.Unmarshal(text, &f); err != nil {
			return err
		}
		if f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return errors.New("not a whole number")
		}
		n = int64(f)
	}
	*w = whole(n)
	return nil
}

// upload is the answer with the signed URL for the file and the name for the upload as an input.
type upload struct {
	ID        string            `json:"id"`
	UploadURL string            `json:"upload_url"`
	Headers   map[string]string `json:"headers"` // headers to send with the file
	URL       string            `json:"url"`     // names the upload as an input
	ExpiresAt time.Time         `json:"expires_at"`
	notices
}

func (a *api) createUpload(r *http.Request, c lipsync.Caller, body sent[uploadBody]) (upload, error) {
	in := body.value
	u, err := a.service.CreateUpload(r.Context(), c, requests.UploadParams{
		Kind: in.Type, Size: int64(in.Size), ContentType: in.ContentType, Name: in.FileName,
	})
	if err != nil {
		return upload{}, err
	}
	headers := map[string]string{}
	for name, values := range u.Headers {
		headers[name] = strings.Join(values, ", ")
	}
	return upload{
		ID:        u.ID,
		UploadURL: a.absolute(r, u.PutURL),
		Headers:   headers,
		URL:       u.Source,
		ExpiresAt: u.ExpiresAt.UTC(),
	}, nil
}
