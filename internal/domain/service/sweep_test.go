package service_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

func TestSweepSends(t *testing.T) {
	f := newFixture(t)
	var ids []string
	for range 3 {
		ids = append(ids, f.generate(t, ""))
	}
	f.complete(t, ids[0])
	_, err := f.Claim(t.Context(), ids[1])
	check.Must(t, err)
	for _, c := range []struct {
		advance time.Duration
		want    []string
	}{{0, ids[2:]}, {lipsync.Lease, ids[1:]}} {
		f.clock.Advance(c.advance)
		f.queue.sent = nil
		check.Must(t, f.Sweep(t.Context()))
		check.Want(t, "sent", fmt.Sprint(f.queue.sent), fmt.Sprint(c.want))
	}
}

func TestSweepCloses(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for range lipsync.MaxAttempts {
		_, err := f.Claim(t.Context(), id)
		check.Must(t, err)
		check.Must(t, f.Sweep(t.Context())) // leaves held requests as they are
		f.clock.Advance(lipsync.Lease)
	}
	check.Must(t, f.Sweep(t.Context()))
	r, _, err := f.Request(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "status", r.Status, lipsync.Failed)
	check.Want(t, "error", r.Failure.Sentence(), "processing failed")
}

func TestSweepUploads(t *testing.T) {
	f := newFixture(t)
	unused := f.upload(t, failure.Video, "fives")
	used := f.upload(t, failure.Video, "fives")
	n := urls()
	n.Video.URL = used.Source
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	sweepAfter := func(d time.Duration, unusedStays, usedStays bool) {
		t.Helper()
		f.clock.Advance(d)
		check.Must(t, f.Sweep(t.Context()))
		check.Must(t, f.Tidy(t.Context(), 0))
		f.wantObject(t, unused.Object, unusedStays)
		f.wantObject(t, used.Object, usedStays)
	}
	sweepAfter(24*time.Hour, true, true) // the hour of grace
	sweepAfter(2*time.Hour, false, true)
	sweepAfter(1000*time.Hour, false, true)
	f.complete(t, id)
	sweepAfter(0, false, false)
	_, err = f.Store.Uploads.ByID(t.Context(), used.ID)
	check.Want(t, "record", failure.CodeOf(err), failure.NotFound)
}

// TestSweepSharedUpload has two requests with one upload. The later request ends first, and the
// earlier one still needs the file.
func TestSweepSharedUpload(t *testing.T) {
	f := newFixture(t)
	shared := f.upload(t, failure.Video, "fives")
	var ids []string
	for range 2 {
		n := urls()
		n.Video.URL = shared.Source
		id, err := f.Generate(t.Context(), f.caller, n)
		check.Must(t, err)
		ids = append(ids, id)
	}
	f.complete(t, ids[1])
	f.clock.Advance(lipsync.Retention{}.InputLife() + 2*time.Hour)
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, shared.Object, true)
	f.complete(t, ids[0])
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, shared.Object, false)
}

// TestSweepManyUploads has more uploads than one call of the store returns. The first expired
// uploads are in use. One sweep deletes all the others.
func TestSweepManyUploads(t *testing.T) {
	f := newFixture(t)
	const used, unused = 200, 500
	for i := range used / 2 {
		n := urls()
		n.Video.URL = f.upload(t, failure.Video, "fives").Source
		n.Audios[0].URL = f.upload(t, failure.Audio, "fives").Source
		n.ReferenceID = new(fmt.Sprint(i))
		_, err := f.Generate(t.Context(), f.caller, n)
		check.Must(t, err)
	}
	f.clock.Advance(time.Second)
	for range unused {
		_, err := f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: 5})
		check.Must(t, err)
	}
	f.clock.Advance(lipsync.Retention{}.InputLife() + 2*time.Hour)
	check.Must(t, f.Sweep(t.Context()))
	left, err := f.Store.Uploads.Expired(t.Context(), f.clock.Now(), lipsync.Upload{}, 1000)
	check.Must(t, err)
	check.Want(t, "uploads that are left", len(left), used)
}

// TestTidyAge checks objects without a record that may still get one.
func TestTidyAge(t *testing.T) {
	f := newFixture(t)
	// Files have the time of the real clock.
	f.Now = time.Now
	n := f.media(t, "v", "a")
	keys := []string{n.Video.Object, n.Audios[0].Object, "uploads/never", "outputs/never/lease.mp4", "outputs/odd", "inputs/odd/er/key", "pieces/never/1/0", "pieces/odd"}
	for _, key := range keys[2:] {
		check.Must(t, f.Objects.Put(t.Context(), key, strings.NewReader("x"), 1))
	}
	check.Must(t, f.Tidy(t.Context(), lipsync.OrphanAge))
	for _, key := range keys {
		f.wantObject(t, key, true)
	}
	f.Now = func() time.Time { return time.Now().Add(lipsync.OrphanAge + time.Hour) }
	check.Must(t, f.Tidy(t.Context(), lipsync.OrphanAge))
	f.wantEmpty(t)
}

// TestDoubtedClock deletes nothing by its age while the clock isn't trusted, and logs what it deletes later.
func TestDoubtedClock(t *testing.T) {
	f := newFixture(t)
	trusted := false
	var log strings.Builder
	f.Trusted, f.Log = func() bool { return trusted }, slog.New(slog.NewTextHandler(&log, nil))
	id := f.generate(t, "old")
	f.complete(t, id)
	r, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	u := f.upload(t, failure.Video, "fives")
	check.Must(t, f.Objects.Put(t.Context(), "outputs/none/1.mp4", strings.NewReader("x"), 1))
	f.clock.Advance(1000 * time.Hour)
	for _, trusted = range []bool{false, true} {
		check.Must(t, f.Sweep(t.Context()))
		check.Must(t, f.Tidy(t.Context(), 0))
		for _, key := range []string{r.Output, u.Object, "outputs/none/1.mp4"} {
			f.wantObject(t, key, !trusted)
		}
	}
	for _, line := range []string{"nothing is deleted while the clock is doubted", "msg=tidy checked=2 deleted_final_or_expired=1 deleted_without_record=1 deleted_findings=0"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("got the log %q, want a line with %q", log.String(), line)
		}
	}
}

func TestTidyKeepsWhatIsNamed(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	_, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	f.clock.Advance(1000 * time.Hour)
	check.Must(t, f.Tidy(t.Context(), 0))
	f.wantObject(t, n.Video.Object, true)
	f.wantObject(t, n.Audios[0].Object, true)
}

// TestRecover restarts after a crash more often than a request may be tried.
func TestRecover(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for range 2 * lipsync.MaxAttempts {
		r, err := f.Claim(t.Context(), "")
		check.Must(t, err)
		check.Want(t, "claimed at once", r.ID, id)
		key := fmt.Sprintf("outputs/%s/%d.mp4", id, r.Claims)
		check.Must(t, f.Objects.Put(t.Context(), key, strings.NewReader("x"), 1))
		check.Must(t, f.Recover(t.Context()))
		f.wantObject(t, key, true) // a start deletes nothing
		check.Must(t, f.Tidy(t.Context(), 0))
		f.wantEmpty(t)
	}
	f.complete(t, id)
}

// TestRecoverClockSetBack restarts after a crash, on a machine whose clock was set back by
// an hour meanwhile.
func TestRecoverClockSetBack(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	_, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	f.clock.Advance(-time.Hour)
	check.Must(t, f.Recover(t.Context()))
	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Want(t, "claimed at once", r.ID, id)
}

// TestSweepPauses has a request in a pause that ends too late, behind more open requests than one
// sweep handles. The end of the pause is no claim, so the order of accounts stays.
func TestSweepPauses(t *testing.T) {
	f := newFixture(t)
	_, other := f.newCaller(t, "other", 0)
	for i := range 2 {
		f.clock.Advance(time.Second)
		_, err := f.Claim(t.Context(), f.create(t, []string{other.Account, f.caller.Account}[i]))
		check.Must(t, err)
	}
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() { f.create(t, other.Account) }) // SQLite writes waiting records together
	}
	all.Wait()
	f.clock.Advance(time.Second)
	id := f.create(t, f.caller.Account)
	pause := f.attempt(t, id, unreachable(0))
	before, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	f.clock.Advance(-2 * time.Hour)
	check.Must(t, f.Sweep(t.Context()))
	after, err := f.Store.Requests.ByID(t.Context(), id)
	check.Must(t, err)
	check.Want(t, "end of the pause", after.LeaseUntil, f.clock.Now())
	after.LeaseUntil = before.LeaseUntil
	check.Want(t, "request", after, before)
	f.clock.Advance(2*time.Hour + pause)
	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Want(t, "account of the next request", r.Account, other.Account)
}

// create makes a request of the account in the store.
func (f *fixture) create(t *testing.T, account string) string {
	t.Helper()
	r := lipsync.Request{ID: f.NewID(), Account: account, Status: lipsync.Queued, CreatedAt: f.clock.Now(), Engine: "warp"}
	if _, _, err := f.Store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
		t.Error(err)
	}
	return r.ID
}

// TestPoison checks that a request ends that crashes the process at each attempt, although no
// attempt is ever reported.
func TestPoison(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for range lipsync.MaxClaims {
		_, err := f.Claim(t.Context(), id)
		check.Must(t, err)
		check.Must(t, f.Recover(t.Context()))
	}
	check.Must(t, f.Sweep(t.Context()))
	r, _, err := f.Request(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "status", r.Status, lipsync.Failed)
	check.Want(t, "failure", r.Failure, failure.Failure{Code: failure.InternalFault})
}

// TestSweepEnds makes each call of another service slow. The sweep ends in time, and later sweeps
// do the rest.
func TestSweepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, start := newFixture(t), time.Now()
		const n, uploads = 30, 300
		for range uploads {
			f.upload(t, failure.Video, "fives")
		}
		f.clock.Advance(lipsync.Retention{}.InputLife() + 2*time.Hour)
		f.GenerateRate = 100
		for range n {
			f.generate(t, "")
		}
		f.Now = func() time.Time { return f.clock.Now().Add(time.Since(start)) }
		f.Hints, f.Objects = slowQueue{f.queue}, slowObjects{f.Objects}
		for sweep := 1; ; sweep++ {
			began := time.Now()
			check.Must(t, f.Sweep(t.Context()))
			if took := time.Since(began); took > 45*time.Second {
				t.Errorf("took %s, want less than the 55 s that it has", took)
			}
			left, err := f.Store.Uploads.Expired(t.Context(), f.Now(), lipsync.Upload{}, 1000)
			check.Must(t, err)
			if len(left) == 0 {
				break
			}
			if sweep > n {
				t.Fatalf("%d uploads are left after %d sweeps", len(left), sweep)
			}
		}
	})
}

// slowQueue takes a second for each message.
type slowQueue struct{ lipsync.Hints }

func (q slowQueue) Send(ctx context.Context, r lipsync.Request) error {
	time.Sleep(time.Second)
	return q.Hints.Send(ctx, r)
}

// slowObjects takes 3 s to delete an object.
type slowObjects struct{ lipsync.Objects }

func (o slowObjects) Delete(ctx context.Context, key string) error {
	time.Sleep(3 * time.Second)
	return o.Objects.Delete(ctx, key)
}
