// Package lipsynctest holds the suites that every adapter of a port must pass.
// A change of a port begins here.
//
// Times are explicit: a suite never waits, and never reads the clock.
package lipsynctest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/lipsync"
)

// suite is what each adapter of the port P is held to, one case a subtest.
type suite[P any] []struct {
	name string
	test func(t *testing.T, port P)
}

// run gives each case a port of its own, and says how many there were.
func (s suite[P]) run(t *testing.T, open func(t *testing.T) P) {
	passed := 0
	for _, c := range s {
		if t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) }) {
			passed++
		}
	}
	t.Logf("%d of %d cases passed", passed, len(s))
}

// Start is when the suites' time begins: a time that every store can keep
// exactly, as whole microseconds.
func Start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC) }

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	elapsed time.Duration
}

// NewClock returns a clock that shows Start.
func NewClock() *Clock { return &Clock{now: Start()} }

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance has time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.elapsed = c.now.Add(d), c.elapsed+d
}

// Set sets the clock forward by d, or back, with no time passing.
func (c *Clock) Set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Elapsed returns how much time has passed, whatever the clock was set to.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

// newRequest returns a queued request of the account, made by its key.
func newRequest(account, referenceID string) lipsync.Request {
	return lipsync.Request{
		ID: uuid.NewString(), Account: account, KeyID: "key of " + account, ReferenceID: referenceID,
		Status:    lipsync.Queued,
		Engine:    "warp",
		Video:     lipsync.Input{URL: "https://example.com/v.mp4?a=1&b=ü"},
		Audio:     lipsync.Input{Object: "uploads/a", Name: "speech of ü.wav"},
		CreatedAt: Start(),
	}
}

// addKey makes the key that newRequest names, good for limit requests.
func addKey(t *testing.T, store lipsync.Store, account string, limit int64) {
	t.Helper()
	k := lipsync.Key{ID: "key of " + account, Account: account, Name: "test", Start: "lipsync_abcd", CreatedAt: Start(), Limit: limit}
	copy(k.Hash[:], account)
	must(t, store.Keys.Create(t.Context(), k))
}

// add creates a request of the account "a".
func add(t *testing.T, store lipsync.Store, referenceID string) lipsync.Request {
	t.Helper()
	r, replayed, err := store.Requests.Create(t.Context(), newRequest("a", referenceID), nil, nil, lipsync.Limits{})
	must(t, err)
	if replayed {
		t.Fatal("a create with no idempotency key was replayed")
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks the code of an error; "" is for none.
func wantCode(t *testing.T, err error, want lipsync.Code) {
	t.Helper()
	if got := lipsync.CodeOf(err); got != want {
		t.Fatalf("got code %q (%v), want %q", got, err, want)
	}
}

// want checks that two comparable values are the same.
func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// together calls f n times at once, and returns how often it gave each code.
func together(n int, f func(i int) error) map[lipsync.Code]int {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		start = make(chan struct{})
		codes = make(map[lipsync.Code]int)
	)
	for i := range n {
		wg.Go(func() {
			<-start
			code := lipsync.CodeOf(f(i))
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	close(start)
	wg.Wait()
	return codes
}

// wantCodes checks what together counted.
func wantCodes(t *testing.T, got map[lipsync.Code]int, want map[lipsync.Code]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got codes %v, want %v", got, want)
	}
}
