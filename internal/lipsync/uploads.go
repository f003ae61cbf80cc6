package lipsync

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// SignedUpload is an upload and where its bytes go.
type SignedUpload struct {
	Upload
	PutURL  *url.URL
	Headers http.Header
	Source  string // upload://ID, to name as an input
}

// CreateUpload announces a file of size bytes, and says where to put it. With
// no content type the client may send any.
func (s *Service) CreateUpload(ctx context.Context, c Caller, kind MediaKind, size int64, contentType string) (SignedUpload, error) {
	if err := s.validUpload(kind, size, contentType); err != nil {
		return SignedUpload{}, err
	}
	if err := s.room(size); err != nil {
		return SignedUpload{}, err
	}
	now := s.Now()
	u := Upload{
		ID: s.NewID(), Account: c.Account, Kind: kind, Size: size, ContentType: contentType,
		CreatedAt: now, ExpiresAt: now.Add(s.Limits.Keep.InputLife()),
	}
	u.Object = uploadKey(u.ID)
	limits := s.limits()
	if err := s.Store.CreateUpload(ctx, u, limits); err != nil {
		return SignedUpload{}, limits.explain(err)
	}
	put, headers, err := s.Objects.SignPut(ctx, u.Object, size, contentType, now.Add(putURLLife))
	if err != nil {
		return SignedUpload{}, err
	}
	return SignedUpload{Upload: u, PutURL: put, Headers: headers, Source: uploadScheme + u.ID}, nil
}

func (s *Service) validUpload(kind MediaKind, size int64, contentType string) error {
	if kind != Video && kind != Audio {
		return newError(Invalid, `type must be "video" or "audio"`)
	}
	if size < 1 {
		return newError(Invalid, "size must be at least 1")
	}
	if limit := s.MaxSize(kind); size > limit {
		return newError(TooLarge, fmt.Sprintf("%s: %d bytes", LargerThan(string(kind), limit), size))
	}
	if contentType != "" && !validMediaType(contentType) {
		return newError(Invalid, "content_type must be a media type such as video/mp4")
	}
	return nil
}
