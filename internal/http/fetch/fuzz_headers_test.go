package fetch

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzHeaders reads any headers of a server. The file's version must be a strong entity tag, a
// time, or none; the pause must not be negative.
func FuzzHeaders(f *testing.F) {
	const changed, sent = "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"
	for _, seed := range [][4]string{
		{`"a"`, "", "", "120"}, {`W/"a"`, changed, sent, sent}, {"", changed, sent, changed}, {"", changed, changed, "-1"},
		{"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:39 1994", "99999999999999999999"}, {"a", "0", "0", " 1"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, tag, changed, sent, pause string) {
		h := http.Header{"Date": {sent}, "Retry-After": {pause}, "Last-Modified": {changed}}
		if tag != "" {
			h.Set("ETag", tag)
		}
		switch version := versionOf(h); {
		case version == "" || version == tag && strings.HasPrefix(tag, `"`):
		case tag != "" || version != changed:
			t.Errorf("%q: got version %q", h, version)
		default:
			if _, err := http.ParseTime(version); err != nil {
				t.Errorf("%q: got version %q, want a time", h, version)
			}
		}
		if got := retryAfter(h); got < 0 {
			t.Errorf("%q: got a pause of %v", h, got)
		}
	})
}

// FuzzLocation answers with any redirect. It may be followed only by http or https to a host, and
// without a Referer.
func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"/b", "//b.example/", "file:///etc/passwd", "https://u:p@b.example:1/?q#f", "http://", "?x", "http://a.invalid./", "HTTP://[::1%25eth0]/", "javascript:x"} {
		f.Add(seed)
	}
	first := httptest.NewRequest(http.MethodGet, "http://a.example/secret", nil)
	f.Fuzz(func(t *testing.T, location string) {
		address, err := first.URL.Parse(location)
		if err != nil {
			return
		}
		next := &http.Request{Method: http.MethodGet, URL: address, Header: http.Header{"Referer": {first.URL.String()}}}
		if checkRedirect(next, []*http.Request{first}) != nil {
			return
		}
		if address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" || len(next.Header) > 0 {
			t.Errorf("%q is followed to %v with %v", location, address, next.Header)
		}
	})
}

// FuzzContinue answers the request for the rest of a file with anything. The fetch must end with
// all bytes that the first answer announced, or with an error.
func FuzzContinue(f *testing.F) {
	const begin = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\nhello"
	const rest = "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\n"
	for _, seed := range []string{
		rest + "Content-Length: 5\r\n\r\nworld", rest + "Content-Length: 2\r\n\r\nwo", rest + "Content-Length: 99\r\n\r\nworld and more", rest + "\r\n",
		strings.Replace(rest, `"a"`, `"b"`, 1) + "Content-Length: 5\r\n\r\nother", strings.Replace(rest, "5-9", "4-9", 1) + "Content-Length: 5\r\n\r\nworld",
		begin + "world", "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */5\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n", "",
	} {
		f.Add([]byte(seed))
	}
	client := New(Options{Total: 5 * time.Second, Stall: 5 * time.Second})
	client.pause = 0
	f.Fuzz(func(t *testing.T, answer []byte) {
		next := []byte(begin)
		client.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			text := next
			next = answer
			return &scripted{answer: bytes.NewReader(text), asked: make(chan struct{})}, nil
		}
		var got bytes.Buffer
		err := client.Fetch(t.Context(), "http://a.example/", &got, 64)
		if err == nil && got.Len() != 10 || !strings.HasPrefix(got.String(), "hello") || got.Len() > 65 {
			t.Errorf("%q: got %q (%v)", answer, got.String(), err)
		}
	})
}
