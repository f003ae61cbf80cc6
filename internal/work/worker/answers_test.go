package worker_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/http/fetch"
	"lipsync/internal/render"
)

// TestWrongAnswers makes requests of a server that answers wrongly, and checks what clients learn after the first attempt: the sentence of the
// API and its reason, which the dashboard, the command line and assistants show as it is. Without a sentence the request waits for another try.
func TestWrongAnswers(t *testing.T) {
	const format, url = "video is not a supported format", "video URL is not accessible"
	answer := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			w.Write([]byte(body))
		}
	}
	closing := func(w http.ResponseWriter, r *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		c.Close()
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte("video"))
	z.Close()
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		sentence string // "" if the request waits
		reason   string // without the host, and the time of the next try
	}{
		"a web page":               {answer(200, "<!DOCTYPE html><title>Virus scan warning</title>"), format, "video is a web page"},
		"a sign-in after a turn":   {answer(http.StatusFound, "", "Location", "/page"), format, "video is a web page"},
		"JSON":                     {answer(200, `{"error":"expired"}`), format, "video is JSON, such as the message of an API"},
		"XML":                      {answer(200, `<?xml version="1.0"?><Error/>`), format, "video is XML, such as the message of a storage"},
		"nothing":                  {answer(200, ""), format, "video is an empty file"},
		"no content":               {answer(204, ""), url, "the server answered 204"},
		"a text":                   {answer(200, "not here"), format, "video is a text"},
		"a PDF":                    {answer(200, "%PDF-1.7"), format, "video is a PDF"},
		"an archive":               {answer(200, zipped.String()), format, "video is a compressed archive; unpack it first"},
		"no medium":                {answer(200, "\x00\x01\x02\x03"), format, "accepted are MP4, MOV, WebM, MKV"},
		"another compression":      {answer(200, "x", "Content-Encoding", "br"), url, `the server compressed the file by "br"`},
		"an expired signature":     {answer(403, ""), url, "the server answered 403; perhaps the URL has expired, or needs a sign-in"},
		"no key":                   {answer(401, ""), url, "the server answered 401; perhaps the URL has expired, or needs a sign-in"},
		"no file":                  {answer(404, ""), url, "the server answered 404"},
		"a deleted file":           {answer(410, ""), url, "the server answered 410"},
		"turns without end":        {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x"+r.URL.Path, http.StatusFound) }, url, "redirects"},
		"too many calls":           {answer(429, "", "Retry-After", "100"), "", "the server answered 429; tried once, retry at "},
		"a fault of the server":    {answer(500, ""), "", "the server answered 500; tried once, retry at "},
		"a closed connection":      {closing, "", "the server closed the connection; tried once, retry at "},
		"cut off":                  {answer(200, "123", "Content-Length", "9000000"), "", "the answer was cut off at 3 bytes of 9.0 MB; tried once, retry at "},
		"a host that is not there": {nil, "", "the host accepts no connections; tried once, retry at "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := closedAddress(t)
			if c.answer != nil {
				mux := http.NewServeMux()
				mux.HandleFunc("/page", answer(200, "<html>Sign in"))
				mux.HandleFunc("/audio", answer(200, "audio"))
				mux.HandleFunc("/", c.answer)
				server := httptest.NewServer(mux)
				defer server.Close()
				address = server.URL
			}
			f := setup(t, func(_ context.Context, j render.Job) error {
				b, err := os.ReadFile(j.Video)
				return errors.Join(err, failure.Failure{Code: failure.MediaUnsupported, Details: failure.Details{Kind: failure.Video}}.Because(fmt.Errorf("%d bytes", len(b))))
			})
			f.Fetcher = fetch.New(fetch.Options{AllowPrivate: true, Total: 4 * time.Second, Stall: 2 * time.Second})
			id, err := f.Service.Generate(t.Context(), f.caller, requests.Params{Video: requests.Source{URL: address + "/video"}, Audio: requests.Source{URL: address + "/audio"}})
			if err != nil {
				t.Fatal(err)
			}
			f.Do(t.Context(), id)
			r := f.get(t, id)
			want := lipsync.Failed
			if c.sentence == "" {
				want = lipsync.Processing
			}
			if got := strings.TrimPrefix(r.Reason(), "video from 127.0.0.1: "); r.Status != want || r.Failure.Sentence() != c.sentence || !strings.Contains(got, c.reason) {
				t.Errorf("got %s, %q, %q, want %s, %q, %q", r.Status, r.Failure.Sentence(), got, want, c.sentence, c.reason)
			}
		})
	}
}

// closedAddress returns the URL of a port of this machine that nobody listens on.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}
