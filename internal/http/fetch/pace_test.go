package fetch

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/transfer"
)

// TestPace fetches from servers that send a byte now and then, and sends to one that takes nothing for a while. Only a transfer that is fast enough
// goes on after the patience.
func TestPace(t *testing.T) {
	const patience = 200 * time.Millisecond
	fast := strings.Repeat("x", transfer.LeastSpeed*2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			time.Sleep(10 * patience)
			return
		}
		first := "x"
		if r.URL.Path == "/fast" {
			first = fast
		}
		_, _ = io.WriteString(w, first)
		for i := 0; i < 60 && r.Context().Err() == nil && (r.URL.Path != "/fast" || i < 8); i++ {
			w.(http.Flusher).Flush()
			time.Sleep(patience / 4)
			_, _ = io.WriteString(w, "x")
		}
	}))
	defer s.Close()
	c := New(Options{AllowPrivate: true, Total: time.Minute, Stall: time.Minute, Patience: patience})
	began := time.Now()
	if err := c.Fetch(t.Context(), s.URL+"/slow", io.Discard, 1<<20); failure.CodeOf(err) != failure.TooSlow {
		t.Errorf("a slow file: got %v, want too slow", err)
	}
	if took := time.Since(began); took > 10*patience {
		t.Errorf("it took %v", took)
	}
	var got bytes.Buffer
	if err := c.Fetch(t.Context(), s.URL+"/fast", &got, 1<<20); err != nil || got.Len() != len(fast)+8 {
		t.Errorf("a fast file: got %d bytes (%v), want %d", got.Len(), err, len(fast)+8)
	}
	file := bytes.NewReader(make([]byte, 1<<20))
	if err := c.Send(t.Context(), s.URL+"/slow", file, file.Size(), "video/mp4"); failure.CodeOf(err) != failure.TooSlow {
		t.Errorf("a slow receiver: got %v, want too slow", err)
	}
}
