package service_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

// unreachable returns a transient fault.
func unreachable(retryAfter time.Duration) error {
	f := failure.Failure{Code: failure.MediaUnreachable, Details: failure.Details{Kind: failure.Video}}
	return f.Because(&failure.Error{Code: failure.Unavailable, RetryAfter: retryAfter})
}

// attempt claims the request and ends the attempt with err at once. It returns the pause after
// that, or 0 if the request is final.
func (f *fixture) attempt(t *testing.T, id string, err error) time.Duration {
	t.Helper()
	return f.longAttempt(t, id, err, 0)
}

// longAttempt does the same as attempt, after the time took.
func (f *fixture) longAttempt(t *testing.T, id string, err error, took time.Duration) time.Duration {
	t.Helper()
	r, claimErr := f.Claim(t.Context(), id)
	check.Must(t, claimErr)
	f.clock.Advance(took)
	_, again, reported := f.Fault(t.Context(), r, err, took)
	check.Must(t, reported)
	if again.IsZero() {
		return 0
	}
	_, claimErr = f.Claim(t.Context(), id)
	check.Want(t, "code of a claim in the pause", failure.CodeOf(claimErr), failure.NotFound)
	return again.Sub(f.clock.Now())
}

func (f *fixture) failureOf(t *testing.T, id string) failure.Reason {
	t.Helper()
	r, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	return r.Failure.Code
}

// noHost returns the fault of a missing host.
func noHost() error {
	return failure.Failure{Code: failure.MediaHostMissing, Details: failure.Details{Kind: failure.Audio}}.Because(nil)
}

// unsent returns a fault of sending an output.
func unsent(code failure.Reason) error { return failure.Failure{Code: code}.Because(nil) }

// TestTransient repeats a transient fault. The pauses grow, no attempt counts, and the request
// fails only after hours.
func TestTransient(t *testing.T) {
	for name, c := range map[string]struct {
		err               error
		code              failure.Reason
		patience, longest time.Duration
		atLeast           int // number of attempts
	}{
		"no network":         {unreachable(0), failure.MediaUnreachable, 6 * time.Hour, 10 * time.Minute, 36},
		"the same answer":    {failure.Failure{Code: failure.MediaUnreachable, Details: failure.Details{Status: 200, Cause: "cut off"}}.Because(nil), failure.MediaUnreachable, time.Hour, 10 * time.Minute, 8},
		"disk full":          {syscall.ENOSPC, failure.HostFailing, 72 * time.Hour, time.Hour, 72},
		"disk fails":         {&os.PathError{Op: "write", Err: syscall.EIO}, failure.HostFailing, 72 * time.Hour, time.Hour, 72},
		"no host":            {noHost(), failure.MediaHostMissing, time.Minute, time.Minute, 4},
		"no storage":         {unsent(failure.UploadUnreachable), failure.UploadUnreachable, 6 * time.Hour, 10 * time.Minute, 36},
		"no host of storage": {unsent(failure.UploadHostMissing), failure.UploadHostMissing, time.Minute, time.Minute, 4},
	} {
		f := newFixture(t)
		id, began, tries := f.generate(t, ""), f.clock.Now(), 0
		for {
			since := f.clock.Now().Sub(began)
			pause := f.attempt(t, id, c.err)
			tries++
			if pause == 0 {
				break
			}
			longest := min(max(since, 5*time.Second), c.longest)
			if pause < longest/2 || pause > longest {
				t.Errorf("%s: %s after the first fault, the pause is %s, want %s to %s", name, since, pause, longest/2, longest)
			}
			f.wantAttempts(t, id, 0)
			f.clock.Advance(pause)
		}
		took := f.clock.Now().Sub(began)
		if took < c.patience || took > c.patience+c.longest || tries < c.atLeast {
			t.Errorf("%s: given up after %s and %d tries, want %s and %d or more", name, took, tries, c.patience, c.atLeast)
		}
		check.Want(t, name, f.failureOf(t, id), c.code)
	}
}

// TestKindsOfFaults repeats a fault of one kind for long, and then one of another kind. The request
// is tried for the whole time of the second kind.
func TestKindsOfFaults(t *testing.T) {
	for name, c := range map[string]struct {
		first    error
		lasts    time.Duration
		then     error
		code     failure.Reason
		patience time.Duration
	}{
		"no network, then no host":   {unreachable(0), 5 * time.Hour, noHost(), failure.MediaHostMissing, time.Minute},
		"disk full, then no host":    {syscall.ENOSPC, 60 * time.Hour, noHost(), failure.MediaHostMissing, time.Minute},
		"disk full, then no network": {syscall.ENOSPC, 60 * time.Hour, unreachable(0), failure.MediaUnreachable, 6 * time.Hour},
		"no host, then no network":   {noHost(), 50 * time.Second, unreachable(0), failure.MediaUnreachable, 6 * time.Hour},
	} {
		f := newFixture(t)
		id := f.generate(t, "")
		for began := f.clock.Now(); f.clock.Now().Sub(began) < c.lasts; {
			f.clock.Advance(max(time.Millisecond, f.attempt(t, id, c.first)))
		}
		began := f.clock.Now()
		for pause := f.attempt(t, id, c.then); pause > 0; pause = f.attempt(t, id, c.then) {
			f.clock.Advance(pause)
		}
		if took := f.clock.Now().Sub(began); took < c.patience || took > 2*c.patience {
			t.Errorf("%s: given up after %s, want %s", name, took, c.patience)
		}
		check.Want(t, name, f.failureOf(t, id), c.code)
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
		f := newFixture(t)
		id, began, pause := f.generate(t, ""), f.clock.Now(), time.Duration(1)
		for n := 0; pause > 0; n++ {
			pause = f.attempt(t, id, c.faults[n%len(c.faults)])
			f.clock.Advance(pause)
		}
		if took := f.clock.Now().Sub(began); took > c.most {
			t.Errorf("%s: given up after %s, want at most %s", name, took, c.most)
		}
	}
}

// TestHeldWorkers has servers that hold a worker at each attempt for as long as they can. The
// request fails after an hour in total, and does not count as a use of its key.
func TestHeldWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		fault []failure.Reason
		took  time.Duration
		tries int
	}{
		"drips and resets":          {[]failure.Reason{failure.MediaUnreachable}, 19 * time.Minute, 4},
		"too slow":                  {[]failure.Reason{failure.MediaTooSlow}, 20 * time.Minute, 3},
		"in turn":                   {[]failure.Reason{failure.MediaTooSlow, failure.MediaUnreachable}, 20 * time.Minute, 3},
		"slow video, missing audio": {[]failure.Reason{failure.MediaHostMissing, failure.MediaUnreachable}, 19 * time.Minute, 4},
		"two media":                 {[]failure.Reason{failure.MediaTooSlow}, 39 * time.Minute, 2},
	} {
		fx := newFixture(t)
		_, fx.caller = fx.newCaller(t, "b", 1)
		id, tries, pause := fx.generate(t, ""), 0, time.Duration(1)
		for pause > 0 {
			f := failure.Failure{Code: c.fault[tries%len(c.fault)], Details: failure.Details{Kind: failure.Video}}
			pause = fx.longAttempt(t, id, f.Because(nil), c.took)
			fx.clock.Advance(pause)
			tries++
		}
		check.Want(t, name+": tries", tries, c.tries)
		check.Want(t, name, fx.failureOf(t, id), failure.MediaTooSlow)
		fx.generate(t, "") // the key may make one request
	}
}

// TestUnsent has storages that fail each time after an output was rendered. No attempt begins after an hour of
// them, but each request has two. It counts as a use of its key.
func TestUnsent(t *testing.T) {
	for took, tries := range map[time.Duration]int{3 * time.Hour: 2, 20 * time.Minute: 4, 31 * time.Minute: 3} {
		f := newFixture(t)
		_, f.caller = f.newCaller(t, "b", 1)
		id, n, pause := f.generate(t, ""), 0, time.Duration(1)
		for pause > 0 {
			pause = f.longAttempt(t, id, unsent(failure.UploadUnreachable), took)
			f.clock.Advance(pause)
			n++
		}
		check.Want(t, fmt.Sprint("tries of ", took), n, tries)
		check.Want(t, "failure", f.failureOf(t, id), failure.UploadUnreachable)
		_, err := f.Generate(t.Context(), f.caller, urls())
		check.Want(t, "next call", failure.CodeOf(err), failure.TokenLimit)
	}
	f := newFixture(t)
	id := f.generate(t, "")
	f.clock.Advance(f.longAttempt(t, id, unsent(failure.UploadUnreachable), 3*time.Hour))
	f.clock.Advance(f.longAttempt(t, id, syscall.ENOSPC, time.Minute))
	f.complete(t, id)
}

// TestHeldByOthers checks that only faults of fetching count in Fetching.
func TestHeldByOthers(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for range 5 {
		f.clock.Advance(f.longAttempt(t, id, syscall.ENOSPC, 59*time.Minute))
	}
	f.clock.Advance(f.longAttempt(t, id, errors.New("index out of range"), 59*time.Minute))
	f.clock.Advance(f.longAttempt(t, id, unreachable(0), 59*time.Minute))
	f.complete(t, id)
}

// TestDelaysEnd releases a request, or lets its lease run out, after hours without a network. The
// next fault then counts as the first one.
func TestDelaysEnd(t *testing.T) {
	for name, end := range map[string]func(f *fixture, r lipsync.Request) error{
		"given back":    func(f *fixture, r lipsync.Request) error { return f.Release(t.Context(), r) },
		"lease ran out": func(f *fixture, r lipsync.Request) error { f.clock.Advance(lipsync.Lease); return nil },
	} {
		f := newFixture(t)
		id := f.generate(t, "")
		f.attempt(t, id, unreachable(0))
		f.clock.Advance(7 * time.Hour)
		r, err := f.Claim(t.Context(), id)
		check.Must(t, err)
		check.Must(t, end(f, r))
		if pause := f.attempt(t, id, unreachable(0)); pause == 0 || pause > 5*time.Second {
			t.Errorf("%s: got a pause of %s, want the shortest", name, pause)
		}
	}
}

// TestRetryAfter checks that the pause is as long as the other server asks for, but never days.
func TestRetryAfter(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for _, c := range []struct{ asked, want time.Duration }{
		{7 * time.Minute, 7 * time.Minute}, {1000 * time.Hour, time.Hour},
	} {
		pause := f.attempt(t, id, unreachable(c.asked))
		check.Want(t, "pause", pause, c.want)
		f.clock.Advance(pause)
	}
	asked := failure.Failure{Code: failure.UploadUnreachable}.Because(&failure.Error{Code: failure.Unavailable, RetryAfter: 50 * time.Minute})
	pause := f.attempt(t, id, asked)
	check.Want(t, "pause of a storage", pause, 50*time.Minute)
	f.clock.Advance(pause)
	if pause := f.attempt(t, id, unreachable(time.Second)); pause < 5*time.Minute {
		t.Errorf("got a pause of %s, want no shorter one than without being asked", pause)
	}
}

// TestOurFault checks that each pause is longer, and that the request fails after the last attempt.
func TestOurFault(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for attempt, longest := range []time.Duration{30 * time.Second, time.Minute, 0} {
		pause := f.attempt(t, id, errors.New("index out of range"))
		if pause < longest/2 || pause > longest {
			t.Errorf("got a pause of %s, want %s to %s", pause, longest/2, longest)
		}
		f.wantAttempts(t, id, attempt+1)
		f.clock.Advance(pause)
	}
	check.Want(t, "failure", f.failureOf(t, id), failure.InternalFault)
}

// TestTransientBeforeFault checks that faults of the service and transient faults count separately.
// The patience with transient faults starts again after another end of an attempt.
func TestTransientBeforeFault(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for range 2 {
		for began := f.clock.Now(); f.clock.Now().Sub(began) < 5*time.Hour; {
			f.clock.Advance(f.attempt(t, id, unreachable(0)))
		}
		f.clock.Advance(f.attempt(t, id, errors.New("index out of range")))
	}
	f.wantAttempts(t, id, 2)
	if r, err := f.Store.Requests.ByID(t.Context(), id); err != nil || r.Delays < lipsync.MaxClaims {
		t.Errorf("got %d delays (%v), want more than the claims that a request gets else", r.Delays, err)
	}
	f.complete(t, id)
}

// TestInputFault checks that a fault of the input fails the request at once.
func TestInputFault(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	check.Want(t, "pause", f.attempt(t, id, failure.Failure{Code: failure.NoFace}.Because(syscall.ENOSPC)), 0)
	check.Want(t, "failure", f.failureOf(t, id), failure.NoFace)
}

// TestFaultOfLost checks Fault of a worker that has lost its request.
func TestFaultOfLost(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	slow, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	f.clock.Advance(lipsync.Lease)
	_, err = f.Claim(t.Context(), id)
	check.Must(t, err)
	for _, fault := range []error{errors.New("ours"), unreachable(0), failure.Failure{Code: failure.NoFace}.Because(nil)} {
		_, _, err := f.Fault(t.Context(), slow, fault, 0)
		check.Want(t, "code", failure.CodeOf(err), failure.Conflict)
	}
}

// TestPostpone checks that the watcher learns of each pause, and that a postponed request stays as it
// is.
func TestPostpone(t *testing.T) {
	f := newFixture(t)
	var w watcher
	id := f.generate(t, "")
	f.clock.Advance(time.Hour)
	f.Watcher, f.queue.sent = &w, nil
	pause := f.attempt(t, id, unreachable(time.Minute))
	w.want(t, "started after 1h0m0s", "postponed by media_unreachable with 0 attempts and 1 delays")
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "oldest 0s", "unreachable 1")
	check.Want(t, "messages in the pause", len(f.queue.sent), 0)

	f.clock.Advance(pause + 3*time.Second)
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "oldest 3s", "unreachable 1") // not 1 h: it waits for a worker only now
	check.Want(t, "messages after it", fmt.Sprint(f.queue.sent), fmt.Sprint([]string{id}))
}
