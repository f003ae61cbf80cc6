package main

import (
	"io"
	"net/http"
	"time"
)

// stalling ends a connection if no byte of a body moves for the time, in either direction. A body
// as a whole has no limit of time, since uploads may be huge.
func stalling(h http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		_ = connection.SetWriteDeadline(time.Time{}) // of the call before
		var body *stallingBody
		if r.Body != http.NoBody {
			// The server reads the part of the body that h doesn't read, before it
			// sends the answer. Half of the time is left for that.
			_ = connection.SetReadDeadline(time.Now().Add(limit / 2))
			body = &stallingBody{ReadCloser: r.Body, connection: connection, limit: limit}
			r.Body = body
		}
		h.ServeHTTP(&stallingWriter{w, connection, limit, body}, r)
	})
}

type stallingBody struct {
	io.ReadCloser
	connection *http.ResponseController
	limit      time.Duration
	end        time.Time // of the whole body, as h has set it; zero for none
}

func (b *stallingBody) Read(p []byte) (int, error) {
	until := time.Now().Add(b.limit)
	if !b.end.IsZero() && b.end.Before(until) {
		until = b.end
	}
	_ = b.connection.SetReadDeadline(until)
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		// The server goes on reading, to notice whether the client closes the connection.
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

type stallingWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
	limit      time.Duration
	body       *stallingBody // nil if there is none
}

// SetReadDeadline bounds the time of the whole body, besides that between its bytes.
func (w *stallingWriter) SetReadDeadline(end time.Time) error {
	if w.body != nil {
		w.body.end = end
	}
	return w.connection.SetReadDeadline(end)
}

func (w *stallingWriter) Write(p []byte) (int, error) {
	_ = w.connection.SetWriteDeadline(time.Now().Add(w.limit))
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find the connection.
func (w *stallingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
