package requests

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// SignedUpload is an upload with the signed URL for its bytes.
type SignedUpload struct {
	lipsync.Upload
	PutURL  *url.URL
	Headers http.Header
	Source  string // upload://ID; names the upload as an input
}

// UploadParams are the properties of a file that a client announces.
type UploadParams struct {
	Kind        failure.MediaKind
	Size        int64  // bytes
	ContentType string // "" allows any
	Name        string // name of the client's file; may be ""
}

// CreateUpload creates an upload and returns it with its signed URL.
func (s *Service) CreateUpload(ctx context.Context, c lipsync.Caller, p UploadParams) (SignedUpload, error) {
	if err := s.validUpload(p); err != nil {
		return SignedUpload{}, err
	}
	if err := s.Room(p.Size); err != nil {
		return SignedUpload{}, err
	}
	now := s.Now()
	u := lipsync.Upload{
		ID: s.NewID(), Account: c.Account, Kind: p.Kind, Size: p.Size, ContentType: p.ContentType, Name: order.BaseName(p.Name),
		CreatedAt: now, ExpiresAt: now.Add(s.Limits.Keep.InputLife()),
	}
	u.Object = uploadKey(u.ID)
	limits := s.Limits
	if err := s.Store.Uploads.Create(ctx, u, limits); err != nil {
		return SignedUpload{}, limits.Explain(err)
	}
	put, headers, err := s.Objects.SignPut(ctx, u.Object, p.Size, p.ContentType, u.SendableUntil())
	if err != nil {
		return SignedUpload{}, err
	}
	s.foretell(ctx, now, p.Size)
	return SignedUpload{Upload: u, PutURL: put, Headers: headers, Source: lipsync.UploadScheme + u.ID}, nil
}

const (
	// foretellEvery is the time between two hints of one process that small requests may come. A small worker's environment stays for some minutes, so
	// one start serves many uploads.
	foretellEvery = time.Minute
	// foretellTime bounds the sending of a hint, since the client waits for it.
	foretellTime = time.Second
)

// foretell tells that a small request may come once an upload of size bytes is sent, so that a small worker's environment starts meanwhile.
func (s *Service) foretell(ctx context.Context, now time.Time, size int64) {
	last := s.foretold.Load()
	if size > lipsync.MostSmallBytes || now.Sub(time.Unix(last, 0)).Abs() < foretellEvery || !s.foretold.CompareAndSwap(last, now.Unix()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, foretellTime)
	defer cancel()
	if err := s.Foretell(ctx); err != nil { // the request only waits for the start
		s.Log.WarnContext(ctx, "foretell a request", "error", err)
	}
}

func (s *Service) validUpload(p UploadParams) error {
	if p.Kind != failure.Video && p.Kind != failure.Audio {
		return failure.New(failure.Invalid, `type must be "video" or "audio"`)
	}
	if p.Size < 1 {
		return failure.New(failure.Invalid, "size must be at least 1")
	}
	if limit := s.MaxSize(p.Kind); p.Size > limit {
		return failure.New(failure.TooLarge, fmt.Sprintf("%s: %d bytes", failure.LargerThan(string(p.Kind), limit), p.Size))
	}
	if p.ContentType != "" && !order.ValidMediaType(p.ContentType) {
		return failure.New(failure.Invalid, "content_type must be a media type such as video/mp4")
	}
	if p.Name != "" && !order.ValidName(p.Name) {
		return failure.New(failure.Invalid, "file_name must be 1 to 255 characters with no control characters")
	}
	return nil
}
