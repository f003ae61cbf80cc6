package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/http/fields"
)

// maxJSON is the largest size of a JSON body in bytes. The longest sensible body has a few
// kilobytes.
const maxJSON = 1 << 20

// bodyTime is the time in which a body without files has to come.
const bodyTime = 30 * time.Second

// timedBody is a body that has to come in bodyTime. After its end the call may take longer.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// sent is a JSON value that a client sent, and the names of its fields that the service doesn't know: see fields.Unknown.
type sent[In any] struct {
	value   In
	ignored []string
}

// notices is a part of an answer to a call with a body.
type notices struct {
	Warnings []string `json:"warnings,omitempty"`
}

func (n *notices) ignore(fields []string) { n.Warnings = order.IgnoredFields(fields).Texts() }

// decoded returns a call that decodes the JSON body and passes it to do. If the answer has notices, they name the fields of the body that are
// ignored.
func decoded[In, Out any](do func(*api, *http.Request, lipsync.Caller, sent[In]) (Out, error)) call[Out] {
	return func(a *api, r *http.Request, c lipsync.Caller) (out Out, err error) {
		in, err := decode[In](r)
		if err != nil {
			return out, err
		}
		if out, err = do(a, r, c, in); err != nil {
			return out, err
		}
		if n, ok := any(&out).(interface{ ignore(fields []string) }); ok {
			n.ignore(in.ignored)
		}
		return out, nil
	}
}

// decode reads a body of exactly one JSON value that is not null.
func decode[In any](r *http.Request) (in sent[In], err error) {
	if !hasType(r, "application/json") {
		return in, invalid("content-type must be application/json")
	}
	body, err := readBody(r, maxJSON)
	if err != nil {
		return in, err
	}
	if in, err = parseJSON[In](body); err != nil {
		return in, err
	}
	return in, refuse(r.Header, in.ignored)
}

// readBody reads a body of at most limit bytes.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	if err != nil {
		return nil, unreadable(err)
	}
	return body, nil
}

// parseJSON parses exactly one JSON value that is not null. It ignores fields that In doesn't
// have, so newer clients can use an older service, and names them. If a field comes twice, the last one counts.
func parseJSON[In any](body []byte) (in sent[In], err error) {
	var v *In
	switch err := json.Unmarshal(body, &v); {
	case !utf8.Valid(body):
		return in, placed(body, errors.New("not UTF-8"))
	case err != nil:
		if _, ok := errors.AsType[*failure.Error](err); ok {
			return in, err // it names the field
		}
		return in, placed(body, err)
	case v == nil:
		return in, placed(body, errors.New("null"))
	}
	return sent[In]{*v, fields.Unknown(body, reflect.TypeFor[In]())}, nil
}

// hasType reports whether the body has the media type, with any parameters.
func hasType(r *http.Request, want string) bool {
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return got == want && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter))
}

// detailed is an error with more about it for its client than the contract's sentence has: printable ASCII, for a header.
type detailed struct {
	error
	detail string
}

func (d detailed) Unwrap() error { return d.error }

// placed returns the error for a body that isn't the JSON that is wanted, with the line and the column, from 1, at which reading it ended.
func placed(body []byte, err error) error {
	what, offset := strings.TrimPrefix(err.Error(), "json: "), int64(len(body))
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what, offset = fmt.Sprintf("%s can't be a JSON %s", cmp.Or(e.Field, "the body"), e.Value), e.Offset
	}
	before := body[:min(max(offset, 0), int64(len(body)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	what = strings.Trim(strconv.QuoteToASCII(fmt.Sprintf("%.120s", what)), `"`)
	return detailed{unreadable(err), fmt.Sprintf("%s at line %d, column %d", what, line, max(column, 1))}
}

// unreadable returns the error for a body that can't be used: it is too large, incomplete or
// malformed. The log has the cause, such as the wrong field.
func unreadable(err error) error {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge("request body", e.Limit)
	}
	return &failure.Error{Code: failure.Invalid, Message: "invalid request body", Err: err}
}

func invalid(message string) error {
	return &failure.Error{Code: failure.Invalid, Message: message}
}

func tooLarge(what string, limit int64) error {
	return &failure.Error{Code: failure.TooLarge, Message: failure.LargerThan(what, limit)}
}
