package simulate

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/rest"
)

// TestPollAfter compares the clients' intervals with those that the API asks for, while a request
// waits and while a worker has it.
func TestPollAfter(t *testing.T) {
	for _, age := range []time.Duration{0, 9 * time.Second, 25 * time.Second, 100 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w, err := newWorld(Plan{Accounts: 1, MaxWorkers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.open(t.Context()); err != nil {
				t.Fatal(err)
			}
			id, err := w.generate(t.Context(), 0, "any", warp)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(age)
			for _, status := range []string{"queued", "processing"} {
				r := httptest.NewRequest(http.MethodGet, "/api/v1/lipsync/requests/"+id, nil)
				r.Header.Set("Authorization", "Bearer "+w.tokens[0])
				a := httptest.NewRecorder()
				rest.New(w.service, rest.Options{Log: slog.New(slog.DiscardHandler)}).ServeHTTP(a, r)
				got, _ := strconv.Atoi(a.Header().Get("Retry-After"))
				stored, err := w.store.Requests.ByID(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if want := pollAfter(ageOf(stored, time.Now())); time.Duration(got)*time.Second != want || string(stored.Status) != status {
					t.Errorf("%s for %v: the API says %d s of %s, clients wait %v", stored.Status, age, got, status, want)
				}
				if status == "queued" {
					if _, err := w.service.Claim(t.Context(), ""); err != nil {
						t.Fatal(err)
					}
					time.Sleep(age / 2)
				}
			}
		})
	}
}

// TestRate compares the rate's mean over a day and its peak with the plan.
func TestRate(t *testing.T) {
	p := Day(86400, 1)
	var sum, most float64
	for s := range 86400 {
		rate := p.rate(time.Duration(s) * time.Second)
		sum, most = sum+rate, max(most, rate)
	}
	if mean := sum / 86400; mean < .999 || mean > 1.001 || most < 2.95 || most > 3.05 {
		t.Errorf("got a mean of %.3f and a peak of %.3f, want 1 and 3", mean, most)
	}
}

// TestMeasurePoll checks that most reads of a client write two units, for the rates of its key and its account.
func TestMeasurePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if poll, err := measurePoll(t.Context()); err != nil || poll.WriteUnits != 2 || poll.ReadUnits < 1 || poll.ReadUnits > 3 {
			t.Errorf("a read takes %v write units and %v read units (%v), want 2, for the rates of key and account, and 1 to 3", poll.WriteUnits, poll.ReadUnits, err)
		}
	})
}

// TestUnknownIsNotRead has a request whose id no client got. No reads may be counted for it.
func TestUnknownIsNotRead(t *testing.T) {
	known := job{accepted: true, created: midnight(), started: midnight().Add(time.Second), done: midnight().Add(3 * time.Second)}
	unknown := known
	unknown.accepted = false
	l := &ledger{jobs: map[string]*job{"known": &known, "unknown": &unknown}}
	if p := l.countPolls(); p.all != 3 || p.most != 1 {
		t.Errorf("got %d reads, at most %d in a second; want 3 and 1", p.all, p.most)
	}
}

// TestSettled has a request whose create the service never reported, since its answer failed after the write. The simulation must
// not take its end for that of another request.
func TestSettled(t *testing.T) {
	l := &ledger{jobs: make(map[string]*job)}
	l.Created(lipsync.Request{ID: "reported"})
	l.Finished(lipsync.Request{ID: "not reported"})
	if made, open := l.counts(); made != 2 || open != 1 || l.settled() {
		t.Errorf("got %d made, %d open, settled %t; want 2, 1, false", made, open, l.settled())
	}
	l.Finished(lipsync.Request{ID: "reported"})
	if !l.settled() {
		t.Error("not settled after the last end")
	}
}
