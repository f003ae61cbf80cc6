package lipsync_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/lipsync"
)

func TestSweepSends(t *testing.T) {
	h := newFixture(t)
	var ids []string
	for range 3 {
		ids = append(ids, h.generate(t, ""))
	}
	h.complete(t, ids[0])
	_, err := h.Claim(t.Context(), ids[1])
	must(t, err)
	for _, c := range []struct {
		advance time.Duration
		want    []string
	}{{0, ids[2:]}, {lipsync.Lease, ids[1:]}} {
		h.clock.Advance(c.advance)
		h.queue.sent = nil
		must(t, h.Sweep(t.Context()))
		want(t, "sent", fmt.Sprint(h.queue.sent), fmt.Sprint(c.want))
	}
}

func TestSweepCloses(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for range lipsync.MaxAttempts {
		_, err := h.Claim(t.Context(), id)
		must(t, err)
		must(t, h.Sweep(t.Context())) // leaves held requests as they are
		h.clock.Advance(lipsync.Lease)
	}
	must(t, h.Sweep(t.Context()))
	r, _, err := h.Request(t.Context(), h.caller, id)
	must(t, err)
	want(t, "status", r.Status, lipsync.Failed)
	want(t, "error", r.Failure.Sentence(), "processing failed")
}

func TestSweepUploads(t *testing.T) {
	h := newFixture(t)
	unused := h.upload(t, lipsync.Video, "fives")
	used := h.upload(t, lipsync.Video, "fives")
	n := urls()
	n.Video.URL = used.Source
	id, err := h.Generate(t.Context(), h.caller, n)
	must(t, err)
	sweepAfter := func(d time.Duration, unusedStays, usedStays bool) {
		t.Helper()
		h.clock.Advance(d)
		must(t, h.Sweep(t.Context()))
		must(t, h.Tidy(t.Context(), 0))
		h.wantObject(t, unused.Object, unusedStays)
		h.wantObject(t, used.Object, usedStays)
	}
	sweepAfter(24*time.Hour, true, true) // the hour of grace
	sweepAfter(2*time.Hour, false, true)
	sweepAfter(1000*time.Hour, false, true)
	h.complete(t, id)
	sweepAfter(0, false, false)
	_, err = h.Store.Uploads.ByID(t.Context(), used.ID)
	want(t, "record", lipsync.CodeOf(err), lipsync.NotFound)
}

// TestSweepSharedUpload has two requests with one upload. The later request ends first, and the
// earlier one still needs the file.
func TestSweepSharedUpload(t *testing.T) {
	h := newFixture(t)
	shared := h.upload(t, lipsync.Video, "fives")
	var ids []string
	for range 2 {
		n := urls()
		n.Video.URL = shared.Source
		id, err := h.Generate(t.Context(), h.caller, n)
		must(t, err)
		ids = append(ids, id)
	}
	h.complete(t, ids[1])
	h.clock.Advance(lipsync.Retention{}.InputLife() + 2*time.Hour)
	must(t, h.Sweep(t.Context()))
	h.wantObject(t, shared.Object, true)
	h.complete(t, ids[0])
	must(t, h.Sweep(t.Context()))
	h.wantObject(t, shared.Object, false)
}

// TestSweepManyUploads has more uploads than one call of the store returns. The first expired
// uploads are in use. One sweep deletes all the others.
func TestSweepManyUploads(t *testing.T) {
	h := newFixture(t)
	const used, unused = 200, 500
	for i := range used / 2 {
		n := urls()
		n.Video.URL = h.upload(t, lipsync.Video, "fives").Source
		n.Audio.URL = h.upload(t, lipsync.Audio, "fives").Source
		n.ReferenceID = new(fmt.Sprint(i))
		_, err := h.Generate(t.Context(), h.caller, n)
		must(t, err)
	}
	h.clock.Advance(time.Second)
	for range unused {
		_, err := h.CreateUpload(t.Context(), h.caller, lipsync.UploadParams{Kind: lipsync.Video, Size: 5})
		must(t, err)
	}
	h.clock.Advance(lipsync.Retention{}.InputLife() + 2*time.Hour)
	must(t, h.Sweep(t.Context()))
	left, err := h.Store.Uploads.Expired(t.Context(), h.clock.Now(), lipsync.Upload{}, 1000)
	must(t, err)
	want(t, "uploads that are left", len(left), used)
}

// TestTidyAge checks objects without a record that may still get one.
func TestTidyAge(t *testing.T) {
	h := newFixture(t)
	// Files have the time of the real clock.
	h.Now = time.Now
	n := h.media(t, "v", "a")
	keys := []string{n.Video.Object, n.Audio.Object, "uploads/never", "outputs/never/lease.mp4", "outputs/odd", "inputs/odd/er/key"}
	for _, key := range keys[2:] {
		must(t, h.Objects.Put(t.Context(), key, strings.NewReader("x"), 1))
	}
	must(t, h.Tidy(t.Context(), lipsync.OrphanAge))
	for _, key := range keys {
		h.wantObject(t, key, true)
	}
	h.Now = func() time.Time { return time.Now().Add(lipsync.OrphanAge + time.Hour) }
	must(t, h.Tidy(t.Context(), lipsync.OrphanAge))
	h.wantEmpty(t)
}

func TestTidyKeepsWhatIsNamed(t *testing.T) {
	h := newFixture(t)
	n := h.media(t, "v", "a")
	_, err := h.Generate(t.Context(), h.caller, n)
	must(t, err)
	h.clock.Advance(1000 * time.Hour)
	must(t, h.Tidy(t.Context(), 0))
	h.wantObject(t, n.Video.Object, true)
	h.wantObject(t, n.Audio.Object, true)
}

// TestRecover restarts after a crash more often than a request may be tried.
func TestRecover(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for range 2 * lipsync.MaxAttempts {
		r, err := h.Claim(t.Context(), "")
		must(t, err)
		want(t, "claimed at once", r.ID, id)
		must(t, h.Objects.Put(t.Context(), fmt.Sprintf("outputs/%s/%d.mp4", id, r.Claims), strings.NewReader("x"), 1))
		must(t, h.Recover(t.Context()))
		h.wantEmpty(t)
	}
	h.complete(t, id)
}

// TestRecoverClockSetBack restarts after a crash, on a machine whose clock was set back by
// an hour meanwhile.
func TestRecoverClockSetBack(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	_, err := h.Claim(t.Context(), "")
	must(t, err)
	h.clock.Advance(-time.Hour)
	must(t, h.Recover(t.Context()))
	r, err := h.Claim(t.Context(), "")
	must(t, err)
	want(t, "claimed at once", r.ID, id)
}

// TestSweepPauses has a request in a pause that ends too late, behind more open requests than one
// sweep handles. The end of the pause is no claim, so the order of accounts stays.
func TestSweepPauses(t *testing.T) {
	h := newFixture(t)
	_, other := h.newCaller(t, "other", 0)
	for i := range 2 {
		h.clock.Advance(time.Second)
		_, err := h.Claim(t.Context(), h.create(t, []string{other.Account, h.caller.Account}[i]))
		must(t, err)
	}
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() { h.create(t, other.Account) }) // SQLite writes waiting records together
	}
	all.Wait()
	h.clock.Advance(time.Second)
	id := h.create(t, h.caller.Account)
	pause := h.attempt(t, id, unreachable(0))
	before, err := h.Store.Requests.ByID(t.Context(), id)
	must(t, err)
	h.clock.Advance(-2 * time.Hour)
	must(t, h.Sweep(t.Context()))
	after, err := h.Store.Requests.ByID(t.Context(), id)
	must(t, err)
	want(t, "end of the pause", after.LeaseUntil, h.clock.Now())
	after.LeaseUntil = before.LeaseUntil
	want(t, "request", after, before)
	h.clock.Advance(2*time.Hour + pause)
	r, err := h.Claim(t.Context(), "")
	must(t, err)
	want(t, "account of the next request", r.Account, other.Account)
}

// create makes a request of the account in the store.
func (h *fixture) create(t *testing.T, account string) string {
	t.Helper()
	r := lipsync.Request{ID: h.NewID(), Account: account, Status: lipsync.Queued, CreatedAt: h.clock.Now(), Engine: "warp"}
	if _, _, err := h.Store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
		t.Error(err)
	}
	return r.ID
}

// TestPoison checks that a request ends that crashes the process at each attempt, although no
// attempt is ever reported.
func TestPoison(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for range lipsync.MaxClaims {
		_, err := h.Claim(t.Context(), id)
		must(t, err)
		must(t, h.Recover(t.Context()))
	}
	must(t, h.Sweep(t.Context()))
	r, _, err := h.Request(t.Context(), h.caller, id)
	must(t, err)
	want(t, "status", r.Status, lipsync.Failed)
	want(t, "failure", r.Failure, lipsync.Failure{Code: lipsync.InternalFault})
}

// TestSweepEnds makes each call of another service slow. The sweep ends in time, and later sweeps
// do the rest.
func TestSweepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, start := newFixture(t), time.Now()
		const n, uploads = 30, 300
		for range uploads {
			h.upload(t, lipsync.Video, "fives")
		}
		h.clock.Advance(lipsync.Retention{}.InputLife() + 2*time.Hour)
		h.GenerateRate = 100
		for range n {
			h.generate(t, "")
		}
		h.Now = func() time.Time { return h.clock.Now().Add(time.Since(start)) }
		h.Queue, h.Objects = slowQueue{h.queue}, slowObjects{h.Objects}
		for sweep := 1; ; sweep++ {
			began := time.Now()
			must(t, h.Sweep(t.Context()))
			if took := time.Since(began); took > 45*time.Second {
				t.Errorf("took %s, want less than the 55 s that it has", took)
			}
			left, err := h.Store.Uploads.Expired(t.Context(), h.Now(), lipsync.Upload{}, 1000)
			must(t, err)
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
type slowQueue struct{ lipsync.Queue }

func (q slowQueue) Send(ctx context.Context, id string) error {
	time.Sleep(time.Second)
	return q.Queue.Send(ctx, id)
}

// slowObjects takes 3 s to delete an object.
type slowObjects struct{ lipsync.Objects }

func (o slowObjects) Delete(ctx context.Context, key string) error {
	time.Sleep(3 * time.Second)
	return o.Objects.Delete(ctx, key)
}
