package lipsync

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// SignedUpload is an upload with the signed URL for its bytes.
type SignedUpload struct {
	Upload
	PutURL  *url.URL
	Headers http.Header
	Source  string // upload://ID; names the upload as an input
}

// UploadParams are the properties of a file that a client announces.
type UploadParams struct {
	Kind        MediaKind
	Size        int64  // bytes
	ContentType string // "" allows any
	Name        string // name of the client's file; may be ""
}

// CreateUpload creates an upload and returns it with its signed URL.
func (s *Service) CreateUpload(ctx context.Context, c Caller, p UploadParams) (SignedUpload, error) {
	if err := s.validUpload(p); err != nil {
		return SignedUpload{}, err
	}
	if err := s.Room(p.Size); err != nil {
		return SignedUpload{}, err
	}
	now := s.Now()
	u := Upload{
		ID: s.NewID(), Account: c.Account, Kind: p.Kind, Size: p.Size, ContentType: p.ContentType, Name: fileName(p.Name),
		CreatedAt: now, ExpiresAt: now.Add(s.Limits.Keep.InputLife()),
	}
	u.Object = uploadKey(u.ID)
	limits := s.Limits
	if err := s.Store.Uploads.Create(ctx, u, limits); err != nil {
		return SignedUpload{}, limits.explain(err)
	}
	put, headers, err := s.Objects.SignPut(ctx, u.Object, p.Size, p.ContentType, now.Add(putURLLife))
	if err != nil {
		return SignedUpload{}, err
	}
	return SignedUpload{Upload: u, PutURL: put, Headers: headers, Source: uploadScheme + u.ID}, nil
}

func (s *Service) validUpload(p UploadParams) error {
	if p.Kind != Video && p.Kind != Audio {
		return newError(Invalid, `type must be "video" or "audio"`)
	}
	if p.Size < 1 {
		return newError(Invalid, "size must be at least 1")
	}
	if limit := s.MaxSize(p.Kind); p.Size > limit {
		return newError(TooLarge, fmt.Sprintf("%s: %d bytes", LargerThan(string(p.Kind), limit), p.Size))
	}
	if p.ContentType != "" && !validMediaType(p.ContentType) {
		return newError(Invalid, "content_type must be a media type such as video/mp4")
	}
	if p.Name != "" && !validName(p.Name) {
		return newError(Invalid, "file_name must be 1 to 255 characters with no control characters")
	}
	return nil
}
