package lipsynctest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/clock"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
)

// machine is a service on a machine with its own clock.
type machine struct {
	*service.Service
	clock *Clock
}

func newMachine(t testing.TB, store lipsync.Store, objects lipsync.Objects, c *Clock) *machine {
	t.Helper()
	return &machine{clock: c, Service: NewService(t, base.Config{GenerateRate: 60, ReadRate: 600, Engines: []string{"warp"}}, base.Ports{
		Store:   store,
		Objects: objects,
		Hints:   faultyQueue{&faults{}},
		Now:     c.Now,
		Settled: (&clock.Watch{Now: c.Now, Elapsed: c.Elapsed}).Settled,
	})}
}

// restarted returns the machine after its process was killed and started again.
func (m *machine) restarted(t *testing.T) *machine {
	t.Helper()
	again := newMachine(t, m.Store, m.Objects, m.clock)
	must(t, again.Recover(t.Context()))
	return again
}

// generate makes a request of a new account.
func (m *machine) generate(t *testing.T) lipsync.Request {
	t.Helper()
	id, err := m.Generate(t.Context(), lipsync.Caller{Account: uuid.NewString()}, requests.Params{
		Video: requests.Source{URL: "https://example.com/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/audio"}}},
	})
	must(t, err)
	r, err := m.Store.Requests.ByID(t.Context(), id)
	must(t, err)
	return r
}

// wantNext checks which request the machine claims next, "" for none.
func (m *machine) wantNext(t *testing.T, when, id string) lipsync.Request {
	t.Helper()
	r, err := m.Claim(t.Context(), "")
	if err != nil && failure.CodeOf(err) != failure.NotFound {
		t.Fatal(err)
	}
	want(t, when+": claimed", r.ID, id)
	return r
}

// TestClocks sets clocks forward and back, and runs machines whose clocks differ. In every case no
// request is lost, fails because of it, or is finished twice, and none waits for long. open returns
// empty ports.
func TestClocks(t *testing.T, open func(t *testing.T) (lipsync.Store, lipsync.Objects)) {
	for _, d := range []time.Duration{15 * time.Minute, time.Hour} {
		for name, test := range map[string]func(t *testing.T, m *machine, d time.Duration){
			"held, set back, restarted":        testHeldAndSet,
			"postponed, then set back":         testPostponedAndSetBack,
			"set forward while many are held":  testSetForward,
			"clocks of two machines":           testTwoClocks,
			"many requests, clocks set at all": testSetAllTheTime,
		} {
			t.Run(fmt.Sprint(name, " ", d), func(t *testing.T) {
				store, objects := open(t)
				test(t, newMachine(t, store, objects, NewClock()), d)
			})
		}
	}
}

// testHeldAndSet kills a process that holds a request, and sets the clock before the next
// one starts.
func testHeldAndSet(t *testing.T, m *machine, d time.Duration) {
	for _, by := range []time.Duration{-d, d} {
		r := m.generate(t)
		for range lipsync.MaxAttempts + 1 {
			m.wantNext(t, "at first", r.ID)
			m.clock.Set(by)
			m = m.restarted(t)
		}
		r = m.wantNext(t, "after the restarts", r.ID)
		must(t, m.Complete(t.Context(), r, strings.NewReader("x"), 1))
	}
}

// testPostponedAndSetBack sets the clock back while a request is postponed, with and without a
// restart.
func testPostponedAndSetBack(t *testing.T, m *machine, d time.Duration) {
	for _, restart := range []bool{false, true} {
		r := m.generate(t)
		claimed := m.wantNext(t, "at first", r.ID)
		_, again, err := m.Fault(t.Context(), claimed, &failure.Error{Code: failure.Unavailable, RetryAfter: 10 * time.Minute}, 0)
		must(t, err)
		pause := again.Sub(m.clock.Now())
		m.clock.Set(-d)
		if restart {
			m = m.restarted(t)
		}
		must(t, m.Sweep(t.Context()))
		waited := time.Duration(0)
		for ; waited < 2*d+pause; waited += time.Minute {
			if r, err = m.Claim(t.Context(), ""); err == nil {
				break
			}
			m.clock.Advance(time.Minute)
		}
		if err != nil || waited > time.Hour {
			t.Fatalf("set back by %s in a pause of %s: waited %s (%v), want an hour at most", d, pause, waited, err)
		}
		want(t, "attempts", r.Attempts, 1)
		must(t, m.Complete(t.Context(), r, strings.NewReader("x"), 1))
	}
}

// testSetForward sets the clock forward while workers hold requests, one at its last attempt. One
// worker has died. Held requests stay held, and the request of the dead worker is claimed again
// soon.
func testSetForward(t *testing.T, m *machine, d time.Duration) {
	last := m.generate(t)
	for range lipsync.MaxAttempts - 1 {
		_, err := m.Claim(t.Context(), last.ID)
		must(t, err)
		m.clock.Advance(lipsync.Lease)
	}
	var held []lipsync.Request
	for _, id := range []string{last.ID, m.generate(t).ID} {
		r, err := m.Claim(t.Context(), id)
		must(t, err)
		held = append(held, r)
	}
	dead := m.generate(t)
	m.wantNext(t, "at first", dead.ID)
	m.clock.Set(d)
	for passed := time.Duration(0); passed < 2*lipsync.Lease; passed += lipsync.Lease / 4 {
		must(t, m.Sweep(t.Context()))
		if r, err := m.Claim(t.Context(), ""); err == nil {
			want(t, "claimed", r.ID, dead.ID)
			dead.ID = ""
		}
		m.clock.Advance(lipsync.Lease / 4)
		for _, r := range held {
			must(t, m.Renew(t.Context(), r))
		}
	}
	want(t, "request of the dead worker that nobody claimed", dead.ID, "")
	for _, r := range held {
		must(t, m.Complete(t.Context(), r, strings.NewReader("x"), 1))
	}
}

// testTwoClocks has a second machine whose clock is ahead or behind. One machine may claim a
// request that the other holds. Then one of them completes it, and the other learns that it lost
// the request.
func testTwoClocks(t *testing.T, m *machine, d time.Duration) {
	other := newMachine(t, m.Store, m.Objects, NewClock())
	for _, by := range []time.Duration{d, -2 * d} { // -d in total
		other.clock.Set(by)
		r := m.generate(t)
		mine := m.wantNext(t, "at first", r.ID)
		theirs, err := other.Claim(t.Context(), r.ID)
		taken := err == nil
		want(t, "renewed", failure.CodeOf(m.Renew(t.Context(), mine)), map[bool]failure.Code{true: failure.Conflict}[taken])
		if taken {
			must(t, other.Complete(t.Context(), theirs, strings.NewReader("theirs"), 6))
			wantCode(t, m.Complete(t.Context(), mine, strings.NewReader("mine"), 4), failure.Conflict)
		} else {
			must(t, m.Complete(t.Context(), mine, strings.NewReader("mine"), 4))
		}
		stored, err := m.Store.Requests.ByID(t.Context(), r.ID)
		must(t, err)
		want(t, "status", stored.Status, lipsync.Completed)
		_, size, err := m.Objects.Open(t.Context(), stored.Output)
		must(t, err)
		want(t, "bytes of the winner's output", size, stored.Size)
	}
}

// testSetAllTheTime completes requests while the clock is set forward and back. Each one completes
// once, at its first attempt.
func testSetAllTheTime(t *testing.T, m *machine, d time.Duration) {
	const n = 5
	for range n {
		m.generate(t)
	}
	done := make(map[string]int)
	for step := 0; len(done) < n && step < 100; step++ {
		m.clock.Set([]time.Duration{d, -2 * d, 0, d}[step%4])
		if step%7 == 6 {
			m = m.restarted(t)
		}
		must(t, m.Sweep(t.Context()))
		if r, err := m.Claim(t.Context(), ""); err == nil {
			must(t, m.Renew(t.Context(), r))
			must(t, m.Complete(t.Context(), r, strings.NewReader("x"), 1))
			want(t, "attempts", r.Attempts, 1)
			done[r.ID]++
		}
		m.clock.Advance(lipsync.Lease)
	}
	want(t, "requests that completed", len(done), n)
}
