package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
)

// TestOpenBodies leaves as many calls of a key open in the middle of their bodies as it may have. Another one is refused, calls without a body
// and those of other keys aren't, and each body has a bound of time.
func TestOpenBodies(t *testing.T) {
	f := newFixture(t)
	f.service.ReadRate = 1000
	bob, alice := f.key(t), f.key(t)
	send := func(ctx context.Context, method, token string, body io.Reader) int {
		r := httptest.NewRequestWithContext(ctx, method, "/api/v1/webhooks", body)
		r.Header.Set("Content-Type", "application/json")
		return f.call(r, token).Code
	}
	var open sync.WaitGroup
	var bodies []*io.PipeWriter
	for range bodiesOfKey {
		from, to := io.Pipe()
		bodies = append(bodies, to)
		open.Go(func() { send(t.Context(), "POST", bob, from) })
		_, _ = io.WriteString(to, "{")
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, c := range []struct {
		method, token, body string
		ctx                 context.Context
		want                int
	}{
		{"POST", bob, "{}", soon, 429}, {"GET", bob, "", t.Context(), 200}, {"POST", alice, "{}", t.Context(), 400},
	} {
		var body io.Reader
		if c.body != "" {
			body = strings.NewReader(c.body)
		}
		if got := send(c.ctx, c.method, c.token, body); got != c.want {
			t.Errorf("%s with %q: got %d, want %d", c.method, c.body, got, c.want)
		}
	}
	for _, b := range bodies {
		b.Close()
	}
	open.Wait()
	if got := send(t.Context(), "POST", bob, strings.NewReader("{}")); got != 400 {
		t.Errorf("after them: got %d, want 400", got)
	}
}

// bounded is an answer that notes the bound of time of the call's body.
type bounded struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (b *bounded) SetReadDeadline(t time.Time) error {
	b.until = t
	return nil
}

func TestTimeOfBodies(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		kind  string
		body  io.Reader
		bound bool // at the end of the call
	}{
		{"application/json", io.MultiReader(strings.NewReader("{"), broken{}), true},
		{"application/json", strings.NewReader("{}"), false},
		{"multipart/form-data; boundary=x", strings.NewReader(""), false},
	} {
		w, before := &bounded{ResponseRecorder: httptest.NewRecorder()}, time.Now()
		r := httptest.NewRequest(http.MethodPost, "/api/v1/lipsync/generate", c.body)
		r.Header.Set("Content-Type", c.kind)
		r.Header.Set("Authorization", "Bearer "+f.key(t))
		f.api.ServeHTTP(w, r)
		if c.bound != (w.until.After(before) && !w.until.After(time.Now().Add(bodyTime))) {
			t.Errorf("%s: got the bound %v, want one: %t", c.kind, w.until, c.bound)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// TestFormBesideStored sends a form of an account that stores nearly as much as it may.
func TestFormBesideStored(t *testing.T) {
	f := newFixture(t)
	f.service.Limits.Stored = 1000
	token := f.key(t)
	announce := httptest.NewRequest(http.MethodPost, "/api/v1/uploads", strings.NewReader(`{"type":"audio","size":900}`))
	announce.Header.Set("Content-Type", "application/json")
	if w := f.call(announce, token); w.Code != 200 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	form := func(size int) *httptest.ResponseRecorder {
		return f.postForm(token, strings.NewReader(file("video", strings.Repeat("v", size))+file("audio", "a")+last))
	}
	if w := form(50); w.Code != 200 {
		t.Errorf("a small form: got %d %s", w.Code, w.Body)
	}
	if w := form(150); w.Code != failure.StorageLimit.Status() {
		t.Errorf("a form that is too large: got %d %s", w.Code, w.Body)
	}
}
