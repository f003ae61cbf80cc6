package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// handler answers one call. If it returns an error, serve writes that as the answer.
type handler func(a *api, w *answer, r *http.Request) error

// answer writes to the client and collects the data for the access log.
type answer struct {
	http.ResponseWriter
	status int
	bytes  int64

	caller  lipsync.Caller // set after authentication
	request string         // id of the lip sync request that the call is about, if known
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

// Unwrap lets http.ResponseController find the connection.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// json answers with v as JSON.
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
	enc.SetEscapeHTML(false) // signed URLs have many &
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return body.Bytes(), nil
}

// list is an answer with all elements, or with a page of them.
type list[T any] struct {
	Data []T `json:"data"`
}

func viewList[In, Out any](all []In, view func(In) Out) list[Out] {
	data := make([]Out, len(all))
	for i, one := range all {
		data[i] = view(one)
	}
	return list[Out]{data}
}

// send answers with a JSON body. It ignores an error of the write, since the client has then gone.
func (w *answer) send(status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// error answers with an error. The code, and more about it if anything is known, are headers, since the body has only the sentence.
func (w *answer) error(status int, code failure.Code, message, detail string) error {
	w.Header().Set("Lipsync-Error-Code", string(code))
	if detail != "" {
		w.Header().Set("Lipsync-Error-Detail", detail)
	}
	return w.json(status, map[string]string{"error": message})
}

// fail renders err. The client gets only err's public message.
func (w *answer) fail(err error) {
	code, message := failure.CodeOf(err), failure.MessageOf(err)
	status := code.Status()
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusInternalServerError:
		code, message = failure.Internal, "internal error"
	}
	if wait := failure.RetrySeconds(err); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	detail := ""
	if d, ok := errors.AsType[detailed](err); ok {
		detail = d.detail
	}
	w.error(status, code, message, detail)
}

// serve runs h, writes its error as the answer, writes the access log, and notes the call for its account. The route is the path's
// pattern, or "" for an unknown path.
func (a *api) serve(route string, h handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		start, id := a.service.Now(), a.service.NewID()
		w := &answer{ResponseWriter: rw}
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		err := failure.Guard(func() error { return h(a, w, r) })
		if err != nil && w.status == 0 {
			w.fail(err)
		}
		a.log(r, w, err, route, id, a.service.Now().Sub(start))
		a.service.NoteCall(r.Context(), w.caller.Account, lipsync.Call{
			At: start, ID: id, Method: r.Method, Route: route, Status: w.status, Code: failure.Code(w.Header().Get("Lipsync-Error-Code")),
			KeyID: w.caller.KeyID, RequestID: w.request,
		})
	})
}

// trace is the part of X-Amzn-Trace-Id by which X-Ray knows a call. API Gateway sets the header.
var trace = regexp.MustCompile(`^Root=(1-[0-9a-f]{8}-[0-9a-f]{24})(?:;|$)`)

// log writes one line about a call. The line has no path and no query, which may have a client's
// reference_id, and of headers, which may have secrets, only the id of a trace.
func (a *api) log(r *http.Request, w *answer, err error, route, id string, took time.Duration) {
	level := slog.LevelInfo
	if r.Method == http.MethodGet && w.status < http.StatusBadRequest && (strings.Contains(route, "{id}") || route == Base+HealthPath) {
		level = slog.LevelDebug // clients ask again and again
	}
	client, _, splitErr := net.SplitHostPort(r.RemoteAddr)
	if splitErr != nil {
		client = r.RemoteAddr
	}
	attrs := []slog.Attr{
		slog.String("id", id),
		slog.String("client", client),
		slog.String("method", r.Method),
		slog.String("route", route),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.String("account", w.caller.Account),
		slog.String("key", w.caller.KeyID),
		slog.String("request", w.request),
	}
	if found := trace.FindStringSubmatch(r.Header.Get("X-Amzn-Trace-Id")); found != nil {
		attrs = append(attrs, slog.String("trace", found[1]))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
		// A call that the client ended, or of an account at its storage limit, is no fault of the
		// service.
		ours := w.status >= http.StatusInternalServerError && failure.CodeOf(err) != failure.StorageLimit
		if ours && !errors.Is(r.Context().Err(), context.Canceled) {
			level = slog.LevelError
		}
	}
	a.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "call", attrs...)
}
