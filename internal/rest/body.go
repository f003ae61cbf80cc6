package rest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"

	"lipsync/internal/lipsync"
)

// maxJSON bounds a JSON body, in bytes: the longest sensible one is a few
// kilobytes.
const maxJSON = 1 << 20

// decoded makes a call of one that takes a JSON body.
func decoded[In, Out any](do func(*http.Request, lipsync.Caller, In) (Out, error)) call[Out] {
	return func(r *http.Request, c lipsync.Caller) (out Out, err error) {
		in, err := decode[In](r)
		if err != nil {
			return out, err
		}
		return do(r, c, in)
	}
}

// decode reads a body of exactly one JSON value that is not null. Fields that
// In doesn't have are ignored, so that a newer client finds an older service
// still useful; of a field that comes twice the last one counts.
func decode[In any](r *http.Request) (in In, err error) {
	if !hasType(r, "application/json") {
		return in, invalid("content-type must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxJSON))
	if err != nil {
		return in, unreadable(err)
	}
	var v *In
	switch err := json.Unmarshal(body, &v); {
	case !utf8.Valid(body):
		return in, unreadable(errors.New("not UTF-8"))
	case err != nil:
		return in, unreadable(err)
	case v == nil:
		return in, unreadable(errors.New("null"))
	}
	return *v, nil
}

// hasType tells whether the body is of the media type, whatever its parameters.
func hasType(r *http.Request, want string) bool {
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return got == want && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter))
}

// unreadable explains a body that can't be used: it is too large, the client broke off, or it
// is not what it should be. The log has the cause, such as the field at fault.
func unreadable(err error) error {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge("request body", e.Limit)
	}
	return &lipsync.Error{Code: lipsync.Invalid, Message: "invalid request body", Err: err}
}

func invalid(message string) error {
	return &lipsync.Error{Code: lipsync.Invalid, Message: message}
}

func tooLarge(what string, limit int64) error {
	return &lipsync.Error{Code: lipsync.TooLarge, Message: lipsync.LargerThan(what, limit)}
}
