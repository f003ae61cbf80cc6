package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lipsync/internal/batch"
)

// run hands an event to a handler, and returns the ids that it saw, its log and
// its error. The handler's own function answers with failure.
func run(t *testing.T, detail string, failure error) (seen []string, log string, err error) {
	t.Helper()
	var text bytes.Buffer
	handler := batch.Handler(func(_ context.Context, id string, _ time.Time) error {
		seen = append(seen, id)
		return failure
	}, slog.New(slog.NewJSONHandler(&text, nil)))
	err = handler(t.Context(), events.EventBridgeEvent{ID: "event", Detail: json.RawMessage(detail)})
	return seen, text.String(), err
}

func TestHandler(t *testing.T) {
	for _, c := range []struct{ name, status, want string }{
		{"lipsync-" + one, "FAILED", one},
		{"lipsync-" + one, "SUCCEEDED", ""},
		{"lipsync-" + one, "RUNNABLE", ""},
		{"lipsync-" + one, "", ""},
		{one, "FAILED", ""},
		{"lipsync-", "FAILED", ""},
		{"lipsync-" + one + "x", "FAILED", ""},
		{"lipsync-lipsync-" + one, "FAILED", ""},
		{"lipsync-" + strings.ToUpper(one), "FAILED", ""},
		{"Lipsync-" + one, "FAILED", ""},
	} {
		seen, _, err := run(t, fmt.Sprintf(`{"jobName":%q,"status":%q}`, c.name, c.status), nil)
		if got := strings.Join(seen, " "); got != c.want || err != nil {
			t.Errorf("%s %s: got %q (%v), want %q", c.status, c.name, got, err, c.want)
		}
	}
}

func TestHandlerErrors(t *testing.T) {
	broken := errors.New("out of order")
	if _, _, err := run(t, `{"jobName":"lipsync-`+one+`","status":"FAILED"}`, broken); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	for _, detail := range []string{"", "x", "[]", `{"jobName":1}`} {
		if seen, _, err := run(t, detail, nil); err == nil || seen != nil {
			t.Errorf("%q: got ids %q and no error", detail, seen)
		}
	}
}

// TestStarted hands on when a job started, in milliseconds, if it ever did.
func TestStarted(t *testing.T) {
	for detail, want := range map[string]time.Time{
		`"startedAt":1795262460000`: time.Date(2026, 11, 21, 12, 1, 0, 0, time.UTC),
		`"startedAt":0`:             {},
		`"createdAt":1`:             {},
	} {
		handler := batch.Handler(func(_ context.Context, _ string, started time.Time) error {
			if !started.Equal(want) {
				t.Errorf("%s: got %s, want %s", detail, started, want)
			}
			return nil
		}, slog.New(slog.DiscardHandler))
		detail = `{"jobName":"lipsync-` + one + `","status":"FAILED",` + detail + `}`
		must(t, handler(t.Context(), events.EventBridgeEvent{Detail: json.RawMessage(detail)}))
	}
}

// TestFakesEvent reads what the fake says of a job that failed.
func TestFakesEvent(t *testing.T) {
	h := newHome(t, "exit 3")
	must(t, h.jobs.Submit(t.Context(), one))
	var e events.EventBridgeEvent
	must(t, json.Unmarshal(<-h.events, &e))
	seen, log, err := run(t, string(e.Detail), nil)
	must(t, err)
	if got := strings.Join(seen, " "); got != one {
		t.Errorf("got %q, want %s", got, one)
	}
	for _, want := range []string{`"request":"` + one + `"`, `"exit":3`, `"job":"`} {
		if !strings.Contains(log, want) {
			t.Errorf("got log %s, want %s in it", log, want)
		}
	}
}

// FuzzHandler sends any detail: whatever is handed on is the id of a job's name.
func FuzzHandler(f *testing.F) {
	f.Add(`{"jobName":"lipsync-` + one + `","status":"FAILED","container":{"exitCode":1,"reason":"x"}}`)
	f.Add(`{"jobName":"lipsync-","status":"FAILED","container":null}`)
	f.Add(`{"JOBNAME":{}}`)
	f.Add("")
	f.Fuzz(func(t *testing.T, detail string) {
		seen, _, err := run(t, detail, nil)
		if len(seen) > 1 || err != nil && seen != nil {
			t.Errorf("got ids %q and %v", seen, err)
		}
		for _, id := range seen {
			if len(id) != len(one) || !strings.Contains(detail, "FAILED") && !strings.Contains(detail, `\u`) {
				t.Errorf("got id %q", id)
			}
		}
	})
}
