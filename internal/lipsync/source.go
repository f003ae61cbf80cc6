package lipsync

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Source is one medium as the client names it.
type Source struct {
	URL    string   // http, https or upload://ID
	Object string   // stored by StoreMedia
	Name   string   // of the file that Object has, as its client calls it; "" if unknown
	SHA256 [32]byte // of the stored object, for the idempotency fingerprint
}

const (
	uploadScheme = "upload://"
	maxURL       = 8192 // bytes; signed addresses of clouds have some 2,000
)

// upload returns the id of the upload that the source names, if it is one.
func (src Source) upload() (id string, ok bool) { return strings.CutPrefix(src.URL, uploadScheme) }

// Again returns what names the input in another request: its URL, or its upload, as long as
// that is kept. "" for a file of a form, which goes with its request.
func (i Input) Again() string {
	if id, ok := strings.CutPrefix(i.Object, uploads); ok {
		return uploadScheme + id
	}
	return i.URL
}

// SourceAgain returns what names an input of the caller's request in another request: see
// Input.Again. "" if a request with it would be refused, as with an upload that has expired.
func (s *Service) SourceAgain(ctx context.Context, c Caller, kind MediaKind, i Input) (string, error) {
	source := i.Again()
	switch _, err := s.input(ctx, c, kind, Source{URL: source}); CodeOf(err) {
	case "":
		return source, nil
	case Invalid:
		return "", nil
	default:
		return "", err
	}
}

// input checks that the caller may use the source, and says where it lies.
func (s *Service) input(ctx context.Context, c Caller, kind MediaKind, src Source) (Input, error) {
	if src.Object != "" {
		return Input{Object: src.Object, Name: fileName(src.Name)}, nil
	}
	if id, ok := src.upload(); ok {
		return s.uploadedInput(ctx, c, kind, id)
	}
	if !validURL(src.URL) {
		return Input{}, newError(Invalid, fmt.Sprintf(
			"%s URL must be an absolute http or https URL with a host, no user name and at most %d bytes", kind, maxURL))
	}
	return Input{URL: src.URL}, nil
}

func validURL(text string) bool {
	if len(text) > maxURL || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func (s *Service) uploadedInput(ctx context.Context, c Caller, kind MediaKind, id string) (Input, error) {
	u, err := s.Uploads.ByID(ctx, id)
	if err != nil && CodeOf(err) != NotFound {
		return Input{}, err
	}
	switch {
	case err != nil || u.Account != c.Account || u.Dropped:
		return Input{}, newError(Invalid, fmt.Sprintf("%s upload does not exist", kind))
	case !s.Now().Before(u.ExpiresAt):
		return Input{}, newError(Invalid, fmt.Sprintf("%s upload has expired", kind))
	case u.Kind != kind:
		return Input{}, newError(Invalid, fmt.Sprintf("%s upload was announced as %s", kind, u.Kind))
	}
	size, err := s.Objects.Size(ctx, u.Object)
	if err != nil && CodeOf(err) != NotFound {
		return Input{}, err
	}
	if err != nil || size != u.Size {
		return Input{}, newError(Invalid, fmt.Sprintf("%s upload is not complete", kind))
	}
	return Input{Object: u.Object, Name: u.Name}, nil
}
