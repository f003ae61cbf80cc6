package requests

import (
	"context"
	"fmt"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Source is a video or a speech track as the client names it.
type Source struct {
	URL    string   // http, https or upload://ID
	Object string   // key of the object that StoreMedia stored
	Name   string   // name of the client's file in Object; "" if unknown
	Size   int64    // size of Object in bytes; 0 if unknown
	SHA256 [32]byte // SHA-256 of the stored object, for the idempotency fingerprint
	Kept   bool     // the upload can be used although it has expired, since a line of a batch waited to use it
}

// upload returns the id of the upload that the source names. ok is false if it names none.
func (src Source) upload() (id string, ok bool) {
	return strings.CutPrefix(src.URL, lipsync.UploadScheme)
}

// named returns the source as an input, before it is checked.
func (src Source) named() lipsync.Input {
	return lipsync.Input{URL: src.URL, Object: src.Object, Name: src.Name}
}

// SourceAgain returns a source for an input of the caller's request in another request; see
// Input.Again. It returns "" if Generate would refuse that source, for example an expired upload.
func (s *Service) SourceAgain(ctx context.Context, c lipsync.Caller, kind failure.MediaKind, i lipsync.Input) (string, error) {
	source := i.Again()
	switch _, _, err := s.Input(ctx, c, kind, Source{URL: source}); failure.CodeOf(err) {
	case "":
		return source, nil
	case failure.Invalid:
		return "", nil
	default:
		return "", err
	}
}

// Input checks that the caller may use the source, and returns it as an input, with its size in bytes, 0 if that is unknown.
func (s *Service) Input(ctx context.Context, c lipsync.Caller, kind failure.MediaKind, src Source) (in lipsync.Input, size int64, err error) {
	if src.Object != "" {
		return lipsync.Input{Object: src.Object, Name: order.BaseName(src.Name)}, src.Size, nil
	}
	if id, ok := src.upload(); ok {
		return s.uploadedInput(ctx, c, kind, id, src.Kept)
	}
	if !order.ValidURL(src.URL) {
		return lipsync.Input{}, 0, failure.New(failure.Invalid, order.URLRule(string(kind)+" URL", src.URL))
	}
	return lipsync.Input{URL: src.URL}, 0, nil
}

func (s *Service) uploadedInput(ctx context.Context, c lipsync.Caller, kind failure.MediaKind, id string, kept bool) (in lipsync.Input, size int64, err error) {
	u, err := s.Store.Uploads.ByID(ctx, id)
	if err != nil && failure.CodeOf(err) != failure.NotFound {
		return lipsync.Input{}, 0, err
	}
	switch {
	case err != nil || u.Account != c.Account || u.Dropped:
		return lipsync.Input{}, 0, failure.New(failure.Invalid, fmt.Sprintf("%s upload does not exist", kind))
	case !kept && !s.Now().Before(u.ExpiresAt):
		return lipsync.Input{}, 0, failure.New(failure.Invalid, fmt.Sprintf("%s upload has expired", kind))
	case u.Kind != kind:
		return lipsync.Input{}, 0, failure.New(failure.Invalid, fmt.Sprintf("%s upload was announced as %s", kind, u.Kind))
	}
	size, err = s.Objects.Size(ctx, u.Object)
	if err != nil && failure.CodeOf(err) != failure.NotFound {
		return lipsync.Input{}, 0, err
	}
	if err != nil || size != u.Size {
		return lipsync.Input{}, 0, failure.New(failure.Invalid, fmt.Sprintf("%s upload is not complete", kind))
	}
	return lipsync.Input{Object: u.Object, Name: u.Name}, size, nil
}
