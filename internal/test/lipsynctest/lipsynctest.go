// Package lipsynctest has the test suites that every adapter of a port must pass. To change a port,
// change its suite first.
//
// Times are explicit: a suite never waits and never reads the real clock.
package lipsynctest

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// suite has the subtests for adapters of the port P.
type suite[P any] []struct {
	name string
	test func(t *testing.T, port P)
}

// run runs each case with its own port, and logs how many cases passed.
func (s suite[P]) run(t *testing.T, open func(t *testing.T) P) {
	passed := 0
	for _, c := range s {
		if t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) }) {
			passed++
		}
	}
	t.Logf("%d of %d cases passed", passed, len(s))
}

// Start returns the time at which the suites begin. It has whole microseconds, which every store
// keeps exactly.
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

// Advance lets the time d pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.elapsed = c.now.Add(d), c.elapsed+d
}

// Set sets the clock forward by d, or back if d is negative. No time passes.
func (c *Clock) Set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Elapsed returns the time that has passed. Set does not change it.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

// newRequest returns a queued request of the account, made by its key.
func newRequest(account, referenceID string) lipsync.Request {
	return lipsync.Request{
		ID: uuid.NewString(), Account: account, KeyID: "key of " + account, CallID: "call of " + account, ReferenceID: referenceID,
		Status:    lipsync.Queued,
		Engine:    "warp",
		Video:     lipsync.Input{URL: "https://example.com/v.mp4?a=1&b=ü"},
		Audio:     lipsync.Input{Object: "uploads/a", Name: "speech of ü.wav"},
		CreatedAt: Start(),
	}
}

// addKey makes the key that newRequest names. It may make limit requests.
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

// wantCode checks the code of an error. "" means no error.
func wantCode(t *testing.T, err error, want failure.Code) {
	t.Helper()
	if got := failure.CodeOf(err); got != want {
		t.Fatalf("got code %q (%v), want %q", got, err, want)
	}
}

// want checks that two comparable values are the same.
func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// together calls f n times concurrently, and returns the number of results with each code.
func together(n int, f func(i int) error) map[failure.Code]int {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		start = make(chan struct{})
		codes = make(map[failure.Code]int)
	)
	for i := range n {
		wg.Go(func() {
			<-start
			code := failure.CodeOf(f(i))
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	close(start)
	wg.Wait()
	return codes
}

// wantCodes checks the result of together.
func wantCodes(t *testing.T, got map[failure.Code]int, want map[failure.Code]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got codes %v, want %v", got, want)
	}
}
