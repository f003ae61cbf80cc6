package invoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/aws/invoke"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

// record counts the small workers that were started.
type record struct {
	started int
	err     error
}

func (r *record) StartSmall(_ context.Context, _ time.Time, n int) (string, error) {
	r.started += n
	return "the start", r.err
}

func (r *record) CountSmall(context.Context, time.Time) (waiting, running int, err error) {
	return r.started, 3, r.err
}

// TestStart makes invocations of a function, of which Lambda takes all, or all but some.
func TestStart(t *testing.T) {
	const function = "arn:aws:lambda:us-east-1:123456789012:function:small"
	for _, refused := range []int{0, 2} {
		var mu sync.Mutex
		invocations := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			invocations++
			body, err := io.ReadAll(r.Body)
			var event invoke.Event
			if err != nil || json.Unmarshal(body, &event) != nil || event.Start != "the start" || r.URL.Path != "/2015-03-31/functions/"+function+"/invocations" ||
				r.Method != http.MethodPost || r.Header.Get("X-Amz-Invocation-Type") != "Event" || !strings.Contains(r.Header.Get("Authorization"), "/lambda/aws4_request") {
				t.Errorf("got %s %s %s with %v", r.Method, r.URL, body, r.Header)
			}
			if invocations <= refused {
				http.Error(w, "Rate Exceeded", http.StatusTooManyRequests)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		}))
		defer server.Close()
		r := &record{}
		p := invoke.New(awstest.Config(server.URL), function, r, time.Now)
		err := p.Start(t.Context(), 70)
		if (err == nil) != (refused == 0) || err != nil && !strings.Contains(err.Error(), "2 invocations of "+function+" failed: got 429 Too Many Requests Rate Exceeded") {
			t.Errorf("with %d refused: got %v", refused, err)
		}
		check.Want(t, "invocations", invocations, 70)
		waiting, running, err := p.Count(t.Context())
		check.Must(t, err)
		check.Want(t, "waiting and running", [2]int{waiting, running}, [2]int{70, 3})
	}
}

// TestStartUnrecorded starts nothing if that can't be recorded.
func TestStartUnrecorded(t *testing.T) {
	p := invoke.New(awstest.Config("http://127.0.0.1:1"), "small", &record{err: errors.New("busy")}, time.Now)
	if err := p.Start(t.Context(), 1); err == nil || err.Error() != "busy" {
		t.Errorf("got %v, want the error of the record", err)
	}
}
