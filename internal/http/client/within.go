package client

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
)

// within lets a handler of this process answer a call.
func within(h http.Handler, r *http.Request) *http.Response {
	w := &kept{header: http.Header{}, status: http.StatusOK}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.RequestURI, r.Host = r.URL.RequestURI(), r.URL.Host
	if r.URL.Scheme == "https" {
		r.TLS = new(tls.ConnectionState) // so links in answers have that scheme
	}
	h.ServeHTTP(w, r)
	return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body)}
}

// kept keeps an answer in memory.
type kept struct {
	header http.Header
	status int
	sent   bool
	body   bytes.Buffer
}

var _ http.ResponseWriter = (*kept)(nil)

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) {
	if !k.sent {
		k.status, k.sent = status, true
	}
}

func (k *kept) Write(p []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(p)
}
