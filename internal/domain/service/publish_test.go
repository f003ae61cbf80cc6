package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/rest"
	"lipsync/internal/test/check"
)

// bus is a lipsync.Bus that keeps what it gets.
type bus struct {
	calls  [][]lipsync.BusEvent
	refuse []int
	fails  func(call int) error
}

func (b *bus) Put(_ context.Context, all []lipsync.BusEvent) ([]int, error) {
	b.calls = append(b.calls, all)
	if b.fails != nil {
		return nil, b.fails(len(b.calls))
	}
	return b.refuse, nil
}

// withBus lets the fixture publish events.
func (f *fixture) withBus() *bus {
	b := new(bus)
	f.Bus, f.EventBody = b, rest.BusEventBody
	return b
}

// TestPublish follows requests of each outcome, and a batch, from change to change.
func TestPublish(t *testing.T) {
	f := newFixture(t)
	b := f.withBus()
	var changes []lipsync.Change
	note := func(was lipsync.Status, id string) lipsync.Request {
		t.Helper()
		r, err := f.Store.Requests.ByID(t.Context(), id)
		check.Must(t, err)
		changes = append(changes, lipsync.Change{Was: was, Request: r})
		return r
	}
	done, canceled := f.generate(t, "one"), f.generate(t, "two")
	note(lipsync.Queued, done)
	f.analyze(t, "https://example.com/v.mp4")
	r, err := f.Claim(t.Context(), done)
	check.Must(t, err)
	note(lipsync.Queued, done)
	check.Must(t, f.Release(t.Context(), r))
	note(lipsync.Processing, done)
	f.complete(t, done)
	completed := note(lipsync.Processing, done)
	note(lipsync.Completed, done)
	_, err = f.Cancel(t.Context(), f.caller, canceled)
	check.Must(t, err)
	note(lipsync.Queued, canceled)
	analysis := completed
	analysis.Kind = lipsync.ToAnalyze
	batch := f.batch(t, variants(2))
	changes = append(changes, lipsync.Change{Was: lipsync.Processing, Request: analysis}, lipsync.Change{Batch: batch})
	batch.Lines, batch.FinishedAt = "cx", f.clock.Now()
	changes = append(changes, lipsync.Change{Batch: batch})

	n, err := f.Publish(t.Context(), changes)
	check.Must(t, err)
	check.Want(t, "done", n, len(changes))
	var got []string
	for _, all := range b.calls {
		for _, e := range all {
			var body struct {
				ID, Account string
				Type        lipsync.EventType
				Data        struct {
					ID, Status string
					OutputURL  string `json:"output_url"`
				}
			}
			check.Must(t, json.Unmarshal(e.Body, &body))
			if body.ID != e.ID || body.Type != e.Type || body.Account != "a" || !strings.HasPrefix(e.ID, fmt.Sprintf("msg_%016x", e.At.UnixMicro())) {
				t.Errorf("got %s of %s at %s with %s", e.Type, e.ID, e.At, e.Body)
			}
			got = append(got, fmt.Sprint(e.Type, " ", body.Data.ID, " ", body.Data.Status, " ", body.Data.OutputURL != ""))
		}
	}
	check.Want(t, "events", strings.Join(got, "\n"), strings.Join([]string{
		"lipsync.processing " + done + " processing false", "lipsync.completed " + done + " completed true",
		"lipsync.canceled " + canceled + " failed false", "batch.completed " + batch.ID + " completed false",
	}, "\n"))
}

// TestPublishedAsDelivered checks that an event has the same id on the bus and at a webhook.
func TestPublishedAsDelivered(t *testing.T) {
	f := newFixture(t)
	b := f.withBus()
	w := f.webhook(t)
	f.complete(t, f.generate(t, "one"))
	for _, d := range f.deliveries(t, w) {
		r, err := f.Store.Requests.ByID(t.Context(), d.Request)
		check.Must(t, err)
		if d.Type == lipsync.RequestProcessing {
			continue
		}
		_, err = f.Publish(t.Context(), []lipsync.Change{{Was: lipsync.Processing, Request: r}})
		check.Must(t, err)
		check.Want(t, "id", b.calls[0][0].ID, d.ID)
	}
	check.Want(t, "calls", len(b.calls), 1)
}

// TestBrokenBus checks which changes are done if the bus fails after some events.
func TestBrokenBus(t *testing.T) {
	f := newFixture(t)
	b := f.withBus()
	id := f.generate(t, "one")
	f.complete(t, id)
	r, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	changes := make([]lipsync.Change, 25)
	for i := range changes {
		changes[i] = lipsync.Change{Was: lipsync.Processing, Request: r}
	}
	broken := errors.New("broken")
	for call, want := range map[int]int{1: 0, 2: 10, 3: 20} {
		b.calls, b.fails = nil, func(n int) error {
			if n == call {
				return broken
			}
			return nil
		}
		if done, err := f.Publish(t.Context(), changes); done != want || !errors.Is(err, broken) {
			t.Errorf("the call %d fails: %d are done (%v), want %d", call, done, err, want)
		}
	}
	var w watcher
	f.Watcher = &w
	b.calls, b.fails, b.refuse = nil, nil, []int{3}
	if done, err := f.Publish(t.Context(), changes); done != len(changes) || err != nil || len(b.calls) != 3 {
		t.Errorf("refused events: %d are done in %d calls (%v), want all in 3", done, len(b.calls), err)
	}
	refused := "refused " + string(lipsync.RequestCompleted)
	w.want(t, refused, refused, refused)
}
