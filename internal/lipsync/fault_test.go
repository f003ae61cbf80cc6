package lipsync_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// unreachable returns a transient fault.
func unreachable(retryAfter time.Duration) error {
	f := lipsync.Failure{Code: lipsync.MediaUnreachable, Details: lipsync.Details{Kind: lipsync.Video}}
	return f.Because(&lipsync.Error{Code: lipsync.Unavailable, RetryAfter: retryAfter})
}

// attempt claims the request and ends the attempt with err at once. It returns the pause after
// that, or 0 if the request is final.
func (h *fixture) attempt(t *testing.T, id string, err error) time.Duration {
	t.Helper()
	return h.longAttempt(t, id, err, 0)
}

// longAttempt does the same as attempt, after the time took.
func (h *fixture) longAttempt(t *testing.T, id string, err error, took time.Duration) time.Duration {
	t.Helper()
	r, claimErr := h.Claim(t.Context(), id)
	must(t, claimErr)
	h.clock.Advance(took)
	_, again, reported := h.Fault(t.Context(), r, err, took)
	must(t, reported)
	if again.IsZero() {
		return 0
	}
	_, claimErr = h.Claim(t.Context(), id)
	want(t, "code of a claim in the pause", lipsync.CodeOf(claimErr), lipsync.NotFound)
	return again.Sub(h.clock.Now())
}

func (h *fixture) failureOf(t *testing.T, id string) lipsync.FailureCode {
	t.Helper()
	r, err := h.Store.Requests.ByID(t.Context(), id)
	must(t, err)
	return r.Failure.Code
}

// noHost returns the fault of a missing host.
func noHost() error {
	return lipsync.Failure{Code: lipsync.MediaHostMissing, Details: lipsync.Details{Kind: lipsync.Audio}}.Because(nil)
}

// TestTransient repeats a transient fault. The pauses grow, no attempt counts, and the request
// fails only after hours.
func TestTransient(t *testing.T) {
	for name, c := range map[string]struct {
		err               error
		code              lipsync.FailureCode
		patience, longest time.Duration
		atLeast           int // number of attempts
	}{
		"no network": {unreachable(0), lipsync.MediaUnreachable, 6 * time.Hour, 10 * time.Minute, 36},
		"disk full":  {syscall.ENOSPC, lipsync.HostFailing, 72 * time.Hour, time.Hour, 72},
		"disk fails": {&os.PathError{Op: "write", Err: syscall.EIO}, lipsync.HostFailing, 72 * time.Hour, time.Hour, 72},
		"no host":    {noHost(), lipsync.MediaHostMissing, time.Minute, time.Minute, 4},
	} {
		h := newFixture(t)
		id, began, tries := h.generate(t, ""), h.clock.Now(), 0
		for {
			since := h.clock.Now().Sub(began)
			pause := h.attempt(t, id, c.err)
			tries++
			if pause == 0 {
				break
			}
			longest := min(max(since, 5*time.Second), c.longest)
			if pause < longest/2 || pause > longest {
				t.Errorf("%s: %s after the first fault, the pause is %s, want %s to %s", name, since, pause, longest/2, longest)
			}
			h.wantAttempts(t, id, 0)
			h.clock.Advance(pause)
		}
		took := h.clock.Now().Sub(began)
		if took < c.patience || took > c.patience+c.longest || tries < c.atLeast {
			t.Errorf("%s: given up after %s and %d tries, want %s and %d or more", name, took, tries, c.patience, c.atLeast)
		}
		want(t, name, h.failureOf(t, id), c.code)
	}
}

// TestKindsOfFaults repeats a fault of one kind for long, and then one of another kind. The request
// is tried for the whole time of the second kind.
func TestKindsOfFaults(t *testing.T) {
	for name, c := range map[string]struct {
		first    error
		lasts    time.Duration
		then     error
		code     lipsync.FailureCode
		patience time.Duration
	}{
		"no network, then no host":   {unreachable(0), 5 * time.Hour, noHost(), lipsync.MediaHostMissing, time.Minute},
		"disk full, then no host":    {syscall.ENOSPC, 60 * time.Hour, noHost(), lipsync.MediaHostMissing, time.Minute},
		"disk full, then no network": {syscall.ENOSPC, 60 * time.Hour, unreachable(0), lipsync.MediaUnreachable, 6 * time.Hour},
		"no host, then no network":   {noHost(), 50 * time.Second, unreachable(0), lipsync.MediaUnreachable, 6 * time.Hour},
	} {
		h := newFixture(t)
		id := h.generate(t, "")
		for began := h.clock.Now(); h.clock.Now().Sub(began) < c.lasts; {
			h.clock.Advance(max(time.Millisecond, h.attempt(t, id, c.first)))
		}
		began := h.clock.Now()
		for pause := h.attempt(t, id, c.then); pause > 0; pause = h.attempt(t, id, c.then) {
			h.clock.Advance(pause)
		}
		if took := h.clock.Now().Sub(began); took < c.patience || took > 2*c.patience {
			t.Errorf("%s: given up after %s, want %s", name, took, c.patience)
		}
		want(t, name, h.failureOf(t, id), c.code)
	}
}

// TestAlternatingFaults checks that a request ends whose faults alternate, so that no fault comes
// twice in a row.
func TestAlternatingFaults(t *testing.T) {
	for name, c := range map[string]struct {
		faults []error
		most   time.Duration
	}{
		"no host and no network":   {[]error{noHost(), unreachable(0)}, 7 * time.Hour},
		"no network and disk full": {[]error{unreachable(0), syscall.ENOSPC}, 74 * time.Hour},
		"all":                      {[]error{noHost(), syscall.ENOSPC, unreachable(0)}, 74 * time.Hour},
	} {
		h := newFixture(t)
		id, began, pause := h.generate(t, ""), h.clock.Now(), time.Duration(1)
		for n := 0; pause > 0; n++ {
			pause = h.attempt(t, id, c.faults[n%len(c.faults)])
			h.clock.Advance(pause)
		}
		if took := h.clock.Now().Sub(began); took > c.most {
			t.Errorf("%s: given up after %s, want at most %s", name, took, c.most)
		}
	}
}

// TestHeldWorkers has servers that hold a worker at each attempt for as long as they can. The
// request fails after an hour in total, and does not count as a use of its key.
func TestHeldWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		fault []lipsync.FailureCode
		took  time.Duration
		tries int
	}{
		"drips and resets":          {[]lipsync.FailureCode{lipsync.MediaUnreachable}, 19 * time.Minute, 4},
		"too slow":                  {[]lipsync.FailureCode{lipsync.MediaTooSlow}, 20 * time.Minute, 3},
		"in turn":                   {[]lipsync.FailureCode{lipsync.MediaTooSlow, lipsync.MediaUnreachable}, 20 * time.Minute, 3},
		"slow video, missing audio": {[]lipsync.FailureCode{lipsync.MediaHostMissing, lipsync.MediaUnreachable}, 19 * time.Minute, 4},
		"two media":                 {[]lipsync.FailureCode{lipsync.MediaTooSlow}, 39 * time.Minute, 2},
	} {
		h := newFixture(t)
		_, h.caller = h.newCaller(t, "b", 1)
		id, tries, pause := h.generate(t, ""), 0, time.Duration(1)
		for pause > 0 {
			f := lipsync.Failure{Code: c.fault[tries%len(c.fault)], Details: lipsync.Details{Kind: lipsync.Video}}
			pause = h.longAttempt(t, id, f.Because(nil), c.took)
			h.clock.Advance(pause)
			tries++
		}
		want(t, name+": tries", tries, c.tries)
		want(t, name, h.failureOf(t, id), lipsync.MediaTooSlow)
		h.generate(t, "") // the key may make one request
	}
}

// TestHeldByOthers checks that only faults of fetching count in Fetching.
func TestHeldByOthers(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for range 5 {
		h.clock.Advance(h.longAttempt(t, id, syscall.ENOSPC, 59*time.Minute))
	}
	h.clock.Advance(h.longAttempt(t, id, errors.New("index out of range"), 59*time.Minute))
	h.clock.Advance(h.longAttempt(t, id, unreachable(0), 59*time.Minute))
	h.complete(t, id)
}

// TestDelaysEnd releases a request, or lets its lease run out, after hours without a network. The
// next fault then counts as the first one.
func TestDelaysEnd(t *testing.T) {
	for name, end := range map[string]func(h *fixture, r lipsync.Request) error{
		"given back":    func(h *fixture, r lipsync.Request) error { return h.Release(t.Context(), r) },
		"lease ran out": func(h *fixture, r lipsync.Request) error { h.clock.Advance(lipsync.Lease); return nil },
	} {
		h := newFixture(t)
		id := h.generate(t, "")
		h.attempt(t, id, unreachable(0))
		h.clock.Advance(7 * time.Hour)
		r, err := h.Claim(t.Context(), id)
		must(t, err)
		must(t, end(h, r))
		if pause := h.attempt(t, id, unreachable(0)); pause == 0 || pause > 5*time.Second {
			t.Errorf("%s: got a pause of %s, want the shortest", name, pause)
		}
	}
}

// TestRetryAfter checks that the pause is as long as the other server asks for, but never days.
func TestRetryAfter(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for _, c := range []struct{ asked, want time.Duration }{
		{7 * time.Minute, 7 * time.Minute}, {1000 * time.Hour, time.Hour},
	} {
		pause := h.attempt(t, id, unreachable(c.asked))
		want(t, "pause", pause, c.want)
		h.clock.Advance(pause)
	}
	if pause := h.attempt(t, id, unreachable(time.Second)); pause < 5*time.Minute {
		t.Errorf("got a pause of %s, want no shorter one than without being asked", pause)
	}
}

// TestOurFault checks that each pause is longer, and that the request fails after the last attempt.
func TestOurFault(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for attempt, longest := range []time.Duration{30 * time.Second, time.Minute, 0} {
		pause := h.attempt(t, id, errors.New("index out of range"))
		if pause < longest/2 || pause > longest {
			t.Errorf("got a pause of %s, want %s to %s", pause, longest/2, longest)
		}
		h.wantAttempts(t, id, attempt+1)
		h.clock.Advance(pause)
	}
	want(t, "failure", h.failureOf(t, id), lipsync.InternalFault)
}

// TestTransientBeforeFault checks that faults of the service and transient faults count separately.
// The patience with transient faults starts again after another end of an attempt.
func TestTransientBeforeFault(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for range 2 {
		for began := h.clock.Now(); h.clock.Now().Sub(began) < 5*time.Hour; {
			h.clock.Advance(h.attempt(t, id, unreachable(0)))
		}
		h.clock.Advance(h.attempt(t, id, errors.New("index out of range")))
	}
	h.wantAttempts(t, id, 2)
	if r, err := h.Store.Requests.ByID(t.Context(), id); err != nil || r.Delays < lipsync.MaxClaims {
		t.Errorf("got %d delays (%v), want more than the claims that a request gets else", r.Delays, err)
	}
	h.complete(t, id)
}

// TestInputFault checks that a fault of the input fails the request at once.
func TestInputFault(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	want(t, "pause", h.attempt(t, id, lipsync.Failure{Code: lipsync.NoFace}.Because(syscall.ENOSPC)), 0)
	want(t, "failure", h.failureOf(t, id), lipsync.NoFace)
}

// TestFaultOfLost checks Fault of a worker that has lost its request.
func TestFaultOfLost(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	slow, err := h.Claim(t.Context(), id)
	must(t, err)
	h.clock.Advance(lipsync.Lease)
	_, err = h.Claim(t.Context(), id)
	must(t, err)
	for _, fault := range []error{errors.New("ours"), unreachable(0), lipsync.Failure{Code: lipsync.NoFace}.Because(nil)} {
		_, _, err := h.Fault(t.Context(), slow, fault, 0)
		want(t, "code", lipsync.CodeOf(err), lipsync.Conflict)
	}
}

// TestPostpone checks that the watcher learns of each pause, and that a postponed request stays as it
// is.
func TestPostpone(t *testing.T) {
	h := newFixture(t)
	var w watcher
	id := h.generate(t, "")
	h.clock.Advance(time.Hour)
	h.Watcher, h.queue.sent = &w, nil
	pause := h.attempt(t, id, unreachable(time.Minute))
	w.want(t, "started after 1h0m0s", "postponed by media_unreachable with 0 attempts and 1 delays")
	must(t, h.Sweep(t.Context()))
	w.want(t, "oldest 0s", "unreachable 1")
	want(t, "messages in the pause", len(h.queue.sent), 0)

	h.clock.Advance(pause + 3*time.Second)
	must(t, h.Sweep(t.Context()))
	w.want(t, "oldest 3s", "unreachable 1") // not 1 h: it waits for a worker only now
	want(t, "messages after it", fmt.Sprint(h.queue.sent), fmt.Sprint([]string{id}))
}
