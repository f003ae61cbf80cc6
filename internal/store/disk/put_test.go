package disk_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestPutsAtOnce sends an object to one link twice at a time, and then too slowly. Only one is stored at a time, and it ends.
func TestPutsAtOnce(t *testing.T) {
	start := time.Now()
	var elapsed atomic.Int64
	objects := open(t, t.TempDir(), func() time.Time { return start.Add(time.Duration(elapsed.Load())) })
	u, _, err := objects.SignPut(t.Context(), "uploads/a", 5, "", start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	put := func(body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPut, u.String(), body)
		r.ContentLength = 5
		w := httptest.NewRecorder()
		objects.Handler().ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		name  string
		after time.Duration
		want  int
	}{{"in time", 15 * time.Minute, 200}, {"too slow", 16 * time.Minute, 400}} {
		elapsed.Store(0)
		from, to := io.Pipe()
		done := make(chan *httptest.ResponseRecorder)
		go func() { done <- put(from) }()
		_, _ = io.WriteString(to, "f")
		w := put(strings.NewReader("other"))
		if w.Code != 429 || w.Header().Get("Retry-After") != "30" || !strings.Contains(w.Body.String(), "another PUT to this link is not finished") {
			t.Errorf("%s: the second one got %d %s", c.name, w.Code, w.Body)
		}
		elapsed.Store(int64(c.after))
		go func() { _, _ = io.WriteString(to, "ives"); to.Close() }()
		if w := <-done; w.Code != c.want {
			t.Errorf("%s: the first one got %d %s, want %d", c.name, w.Code, w.Body, c.want)
		}
		from.Close()
	}
	if w := put(strings.NewReader("fives")); w.Code != 200 {
		t.Errorf("a later one: got %d %s", w.Code, w.Body)
	}
}
