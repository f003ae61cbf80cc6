package lipsync_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// unreachable is a fault of the weather.
func unreachable(retryAfter time.Duration) error {
	f := lipsync.Failure{Code: lipsync.MediaUnreachable, Details: lipsync.Details{Kind: lipsync.Video}}
	return f.Because(&lipsync.Error{Code: lipsync.Unavailable, RetryAfter: retryAfter})
}

// attempt claims the request, has the attempt end by err, and returns how long the
// request then waits; 0 if it is final.
func (h *home) attempt(t *testing.T, id string, err error) time.Duration {
	t.Helper()
	r, claimErr := h.Claim(t.Context(), id)
	must(t, claimErr)
	_, again, reported := h.Fault(t.Context(), r, err)
	must(t, reported)
	if again.IsZero() {
		return 0
	}
	_, claimErr = h.Claim(t.Context(), id)
	want(t, "code of a claim in the pause", lipsync.CodeOf(claimErr), lipsync.NotFound)
	return again.Sub(h.clock.Now())
}

func (h *home) failureOf(t *testing.T, id string) lipsync.FailureCode {
	t.Helper()
	r, err := h.Store.Get(t.Context(), id)
	must(t, err)
	return r.Failure.Code
}

// TestWeather has a fault of the weather again and again: pauses grow, no attempt is
// counted, and the request fails only after hours.
func TestWeather(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		code     lipsync.FailureCode
		patience time.Duration
		atLeast  int // tries
	}{
		"no network": {unreachable(0), lipsync.MediaUnreachable, 6 * time.Hour, 36},
		"too slow":   {lipsync.Failure{Code: lipsync.MediaTooSlow}.Because(nil), lipsync.MediaTooSlow, time.Minute, 4},
		"disk full":  {syscall.ENOSPC, lipsync.HostFailing, 6 * time.Hour, 36},
		"no host":    {lipsync.Failure{Code: lipsync.MediaHostMissing}.Because(nil), lipsync.MediaHostMissing, time.Minute, 4},
	} {
		h := newHome(t)
		id, began, tries := h.generate(t, ""), h.clock.Now(), 0
		for {
			since := h.clock.Now().Sub(began)
			pause := h.attempt(t, id, c.err)
			tries++
			if pause == 0 {
				break
			}
			longest := min(max(since, 5*time.Second), 10*time.Minute)
			if pause < longest/2 || pause > longest {
				t.Errorf("%s: %s after the first fault, the pause is %s, want %s to %s", name, since, pause, longest/2, longest)
			}
			h.wantAttempts(t, id, 0)
			h.clock.Advance(pause)
		}
		took := h.clock.Now().Sub(began)
		if took < c.patience || took > c.patience+10*time.Minute || tries < c.atLeast {
			t.Errorf("%s: given up after %s and %d tries, want %s and %d or more", name, took, tries, c.patience, c.atLeast)
		}
		want(t, name, h.failureOf(t, id), c.code)
	}
}

// TestRetryAfter waits for as long as the other side asks for, but never for days.
func TestRetryAfter(t *testing.T) {
	h := newHome(t)
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

// TestOurFault pauses, longer each time, and fails after the last attempt.
func TestOurFault(t *testing.T) {
	h := newHome(t)
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

// TestWeatherBeforeFault counts faults of ours and of the weather apart. The
// patience with the weather begins anew after another end.
func TestWeatherBeforeFault(t *testing.T) {
	h := newHome(t)
	id := h.generate(t, "")
	for range 2 {
		for began := h.clock.Now(); h.clock.Now().Sub(began) < 5*time.Hour; {
			h.clock.Advance(h.attempt(t, id, unreachable(0)))
		}
		h.clock.Advance(h.attempt(t, id, errors.New("index out of range")))
	}
	h.wantAttempts(t, id, 2)
	if r, err := h.Store.Get(t.Context(), id); err != nil || r.Delays < lipsync.MaxClaims {
		t.Errorf("got %d delays (%v), want more than the claims that a request gets else", r.Delays, err)
	}
	h.complete(t, id)
}

// TestInputFault fails at once.
func TestInputFault(t *testing.T) {
	h := newHome(t)
	id := h.generate(t, "")
	want(t, "pause", h.attempt(t, id, lipsync.Failure{Code: lipsync.NoFace}.Because(syscall.ENOSPC)), 0)
	want(t, "failure", h.failureOf(t, id), lipsync.NoFace)
}

// TestFaultOfLost has a worker that lost its request meanwhile.
func TestFaultOfLost(t *testing.T) {
	h := newHome(t)
	id := h.generate(t, "")
	slow, err := h.Claim(t.Context(), id)
	must(t, err)
	h.clock.Advance(lipsync.Lease)
	_, err = h.Claim(t.Context(), id)
	must(t, err)
	for _, fault := range []error{errors.New("ours"), unreachable(0), lipsync.Failure{Code: lipsync.NoFace}.Because(nil)} {
		_, _, err := h.Fault(t.Context(), slow, fault)
		want(t, "code", lipsync.CodeOf(err), lipsync.Conflict)
	}
}

// TestPutOff tells the watcher of each pause, and leaves the request alone in it.
func TestPutOff(t *testing.T) {
	h := newHome(t)
	var w watcher
	var j jobs
	id := h.generate(t, "")
	h.clock.Advance(time.Hour)
	h.Watcher, h.Jobs, h.queue.sent = &w, &j, nil
	pause := h.attempt(t, id, unreachable(time.Minute))
	w.want(t, "started after 1h0m0s", "put off by media_unreachable with 0 attempts and 1 delays")
	must(t, h.Dispatch(t.Context(), id))
	must(t, h.Sweep(t.Context()))
	w.want(t, "oldest 0s")
	want(t, "jobs and messages in the pause", len(j.submitted)+len(h.queue.sent), 0)
	must(t, h.JobFailed(t.Context(), id, h.clock.Now()))
	h.wantAttempts(t, id, 0)

	h.clock.Advance(pause + 3*time.Second)
	must(t, h.Dispatch(t.Context(), id))
	must(t, h.Sweep(t.Context()))
	w.want(t, "oldest 3s") // and not 1 h: it waits for a worker only now
	want(t, "jobs and messages after it", fmt.Sprint(j.submitted, h.queue.sent), fmt.Sprint([]string{id}, []string{id}))
}
