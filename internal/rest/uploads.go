package rest

import (
	"net/http"
	"strings"
	"time"

	"lipsync/internal/lipsync"
)

// uploadBody announces a file.
type uploadBody struct {
	Type        lipsync.MediaKind `json:"type"`
	Size        int64             `json:"size"` // bytes
	ContentType string            `json:"content_type"`
}

// upload says where a file may be sent, and how to name it afterwards.
type upload struct {
	ID        string            `json:"id"`
	UploadURL string            `json:"upload_url"`
	Headers   map[string]string `json:"headers"` // to send with the file
	URL       string            `json:"url"`     // of an input
	ExpiresAt time.Time         `json:"expires_at"`
}

func (a *api) createUpload(r *http.Request, c lipsync.Caller, in uploadBody) (upload, error) {
	u, err := a.service.CreateUpload(r.Context(), c, in.Type, in.Size, in.ContentType)
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
