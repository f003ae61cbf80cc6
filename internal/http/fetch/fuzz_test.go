package fetch

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
)

// scripted is a connection to a server that sends its answer after the request, and closes.
type scripted struct {
	net.Conn
	answer *bytes.Reader
	asked  chan struct{} // closed by the first write
	once   sync.Once
}

func (s *scripted) ask() { s.once.Do(func() { close(s.asked) }) }

func (s *scripted) Write(b []byte) (int, error) { s.ask(); return len(b), nil }
func (s *scripted) Read(b []byte) (int, error)  { <-s.asked; return s.answer.Read(b) }
func (s *scripted) Close() error                { s.ask(); return nil }

// FuzzResponse answers with anything. The fetch must end with the body, or with an error that
// blames the source, and must never write more than a byte beyond the limit.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhello", "HTTP/1.0 200 OK\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
		"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", "HTTP/1.1 301 Moved\r\nLocation: //\x00\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: ftp://a/\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Partial\r\nContent-Range: bytes 0-0/9\r\n\r\nx", "SSH-2.0-x\r\n", "",
	} {
		f.Add([]byte(seed))
	}
	client := New(Options{Total: 5 * time.Second, Stall: 5 * time.Second})
	f.Fuzz(func(t *testing.T, answer []byte) {
		client.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			return &scripted{answer: bytes.NewReader(answer), asked: make(chan struct{})}, nil
		}
		const limit = 64
		var got bytes.Buffer
		err := client.Fetch(t.Context(), "http://a.example/", &got, limit)
		theirs := []failure.Code{"", failure.NotFound, failure.TooLarge, failure.Unavailable, failure.TooSlow, failure.NoHost}
		if !slices.Contains(theirs, failure.CodeOf(err)) {
			t.Errorf("%q: got %v", answer, err)
		}
		if err == nil && got.Len() > limit || got.Len() > limit+1 {
			t.Errorf("%q: got %d bytes (%v), want at most %d", answer, got.Len(), err, limit)
		}
	})
}
