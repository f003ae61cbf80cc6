package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"lipsync/internal/lipsync"
)

// handler answers one call. An error that it returns is rendered for it.
type handler func(w *answer, r *http.Request) error

// answer is the way back to the client, and what the access log says of it.
type answer struct {
	http.ResponseWriter
	status int
	bytes  int64

	caller  lipsync.Caller // once known
	request string         // id of the lip sync request that the call is about, once known
}

func (w *answer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// json renders v.
func (w *answer) json(status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	w.send(status, body)
	return nil
}

// encode returns v as JSON.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // signed URLs are full of &
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return body.Bytes(), nil
}

// send answers with JSON. A client that is gone is no error: nobody reads the rest.
func (w *answer) send(status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

func (w *answer) error(status int, message string) error {
	return w.json(status, map[string]string{"error": message})
}

// statusOf is the table from code to status. A code that no client can cause,
// Conflict among them, is our fault.
func statusOf(code lipsync.Code) int {
	switch code {
	case lipsync.Invalid:
		return http.StatusBadRequest
	case lipsync.Unauthorized:
		return http.StatusUnauthorized
	case lipsync.NotFound:
		return http.StatusNotFound
	case lipsync.Finished, lipsync.Unfinished:
		return http.StatusConflict
	case lipsync.TokenLimit:
		return http.StatusPreconditionFailed
	case lipsync.TooLarge:
		return http.StatusRequestEntityTooLarge
	case lipsync.Reused:
		return http.StatusUnprocessableEntity
	case lipsync.RateLimited, lipsync.OpenLimit:
		return http.StatusTooManyRequests
	case lipsync.StorageLimit, lipsync.NoSpace:
		return http.StatusInsufficientStorage
	default:
		return http.StatusInternalServerError
	}
}

// fail renders err. The client gets only err's public message.
func (w *answer) fail(err error) {
	status, message := statusOf(lipsync.CodeOf(err)), lipsync.MessageOf(err)
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusInternalServerError:
		message = "internal error"
	}
	if wait := lipsync.RetrySeconds(err); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	w.error(status, message)
}

// serve runs h, renders its error and writes the access log. The route is the
// path's pattern, "" where there is nothing.
func (a *api) serve(route string, h handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		start, id := a.service.Now(), a.service.NewID()
		w := &answer{ResponseWriter: rw}
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		err := guard(h, w, r)
		if err != nil && w.status == 0 {
			w.fail(err)
		}
		a.log(r, w, err, route, id, a.service.Now().Sub(start))
	})
}

// guard turns a panic of h into an error.
func guard(h handler, w *answer, r *http.Request) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return h(w, r)
}

// log writes one line on a call. The path and the query stay out of it, which may
// hold a client's reference_id, as do headers, which may carry secrets.
func (a *api) log(r *http.Request, w *answer, err error, route, id string, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("id", id),
		slog.String("method", r.Method),
		slog.String("route", route),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.String("account", w.caller.Account),
		slog.String("key", w.caller.KeyID),
		slog.String("request", w.request),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
		// Neither a call that its client hung up on failed through a fault of ours, nor one of
		// an account that stores as much as it may.
		ours := w.status >= http.StatusInternalServerError && lipsync.CodeOf(err) != lipsync.StorageLimit
		if ours && !errors.Is(r.Context().Err(), context.Canceled) {
			level = slog.LevelError
		}
	}
	a.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "call", attrs...)
}
