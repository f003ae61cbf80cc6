package service_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

// TestBatchLimit makes more batches than an account may have that aren't finished.
func TestBatchLimit(t *testing.T) {
	f := newFixture(t)
	f.Limits.Batches = 2
	first := f.batch(t, variants(1))
	f.batch(t, variants(1))
	third := variants(1)
	third.IdempotencyKey = new("k")
	_, _, err := f.CreateBatch(t.Context(), f.caller, third)
	check.Error(t, "third batch", err, failure.BatchLimit, "account has as many unfinished batches as it may have, 2; try again when one is finished")
	objects := 0
	check.Must(t, f.Objects.List(t.Context(), "batches/", func(string, time.Time) error { objects++; return nil }))
	check.Want(t, "stored lines", objects, 2)
	f.complete(t, first.RequestID(0))
	f.later(t)
	f.batch(t, variants(1))
}

// TestBatchStorageLimit makes batches until their records take what the account may store.
func TestBatchStorageLimit(t *testing.T) {
	f := newFixture(t)
	_, other := f.newCaller(t, "b", 0)
	refused := variants(1)
	refused.Lines[0].Audio = "https://example.com/other.wav" // its request would take as much
	first := f.batch(t, variants(1))
	stored, _, err := f.Stored(t.Context(), f.caller, f.clock.Now())
	check.Must(t, err)
	made, err := f.Store.Requests.ByID(t.Context(), first.RequestID(0))
	check.Must(t, err)
	check.Want(t, "stored", stored, first.RecordSize()+made.RecordSize())
	f.Limits.Stored = stored
	for _, idempotency := range []*string{nil, new("k")} {
		refused.IdempotencyKey = idempotency
		_, _, err := f.CreateBatch(t.Context(), f.caller, refused)
		check.Want(t, "code", failure.CodeOf(err), failure.StorageLimit)
	}
	objects := 0
	check.Must(t, f.Objects.List(t.Context(), "batches/", func(string, time.Time) error { objects++; return nil }))
	check.Want(t, "stored lines", objects, 1)
	_, _, err = f.CreateBatch(t.Context(), other, variants(1))
	check.Must(t, err)
}

// beforeCount calls do once before the first count of an account's batches.
type beforeCount struct {
	lipsync.Batches
	do func()
}

func (s *beforeCount) Count(ctx context.Context, account string) (int, error) {
	if do := s.do; do != nil {
		s.do = nil
		do()
	}
	return s.Batches.Count(ctx, account)
}

// TestLastBatchTwice makes the last batch that an account may have by two calls at the same time with the same idempotency key.
func TestLastBatchTwice(t *testing.T) {
	f := newFixture(t)
	f.Limits.Batches = 1
	p := variants(1)
	p.IdempotencyKey = new("k")
	var first lipsync.Batch
	f.Store.Batches = &beforeCount{f.Store.Batches, func() { first = f.batch(t, p) }}
	second, _, err := f.CreateBatch(t.Context(), f.caller, p)
	check.Must(t, err)
	check.Want(t, "second call's batch", second.ID, first.ID)
	p.Lines[0].Audio = "https://example.com/other"
	f.Store.Batches = &beforeCount{Batches: f.Store.Batches}
	_, _, err = f.CreateBatch(t.Context(), f.caller, p)
	check.Want(t, "another body", failure.CodeOf(err), failure.Reused)
}

// counting counts creates of requests.
type counting struct {
	lipsync.Requests
	creates atomic.Int32
}

func (s *counting) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, l lipsync.Limits) (lipsync.Request, bool, error) {
	s.creates.Add(1)
	return s.Requests.Create(ctx, r, uploads, idem, l)
}

// countingObjects counts reads of objects.
type countingObjects struct {
	lipsync.Objects
	opens atomic.Int32
}

func (o *countingObjects) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	o.opens.Add(1)
	return o.Objects.Open(ctx, key)
}

// TestSweepFullAccount sweeps batches of an account that may have no more requests. One line is tried, and that is of the oldest batch.
func TestSweepFullAccount(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	requests, objects := &counting{Requests: f.Store.Requests}, &countingObjects{Objects: f.Objects}
	f.Store.Requests, f.Objects = requests, objects
	open := f.generate(t, "")
	var all []lipsync.Batch
	for range 3 {
		all = append(all, f.batch(t, variants(20)))
		f.clock.Advance(time.Second)
	}
	requests.creates.Store(0)
	objects.opens.Store(0)
	f.later(t)
	check.Want(t, "tried lines", requests.creates.Load(), 1)
	check.Want(t, "read batches", objects.opens.Load(), 1)
	f.complete(t, open)
	f.later(t)
	f.wantLines(t, "oldest batch", all[0], "q"+strings.Repeat("w", 19))
}

// TestSweepManyBatches has more batches of one account than a sweep reads at once. Those of another account come too.
func TestSweepManyBatches(t *testing.T) {
	f := newFixture(t)
	for range 1100 {
		b := lipsync.Batch{ID: uuid.NewString(), Account: "other", Lines: "q", CreatedAt: f.clock.Now(), Version: 1}
		check.Must(t, f.Store.Batches.Create(t.Context(), b, lipsync.Limits{}))
	}
	f.clock.Advance(time.Second)
	f.Limits.Open = 1
	open := f.generate(t, "")
	b := f.batch(t, variants(1))
	f.complete(t, open)
	f.later(t)
	f.wantLines(t, "the youngest batch", b, "q")
}

// endless has always more batches, and takes long to read them.
type endless struct {
	lipsync.Batches
	advance func(time.Duration)
	handled *int
}

func (s endless) Unfinished(context.Context, lipsync.Batch, int) ([]lipsync.Batch, error) {
	s.advance(10 * time.Second)
	return []lipsync.Batch{{ID: uuid.NewString(), Account: uuid.NewString(), Lines: "c"}}, nil
}

func (s endless) Swap(context.Context, lipsync.Batch) error {
	*s.handled++
	return nil
}

// TestSweepBatchesEnds gives a sweep more batches than it has time to read. It handles those that it has read, and deletes no uploads, since
// a batch that it hasn't read may need them.
func TestSweepBatchesEnds(t *testing.T) {
	f := newFixture(t)
	handled, batches := 0, f.Store.Batches
	f.Store.Batches = endless{batches, f.clock.Advance, &handled}
	u := f.upload(t, failure.Audio, "bytes")
	f.clock.Advance(48 * time.Hour)
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, u.Object, true)
	check.Want(t, "handled batches", handled, 1)
	f.Store.Batches = batches
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, u.Object, false)
}

// TestLinesKeepUploads has lines that wait for days, since their account is full. Their uploads stay until the requests are made. Those of lines that
// no longer wait are deleted.
func TestLinesKeepUploads(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	objects := &countingObjects{Objects: f.Objects}
	f.Objects = objects
	open := f.generate(t, "")
	var uploads []requests.SignedUpload
	withUploads := func() lipsync.Batch {
		p := variants(3)
		for n := range p.Lines {
			uploads = append(uploads, f.upload(t, failure.Audio, "fives"))
			p.Lines[n].Audio = uploads[len(uploads)-1].Source
		}
		return f.batch(t, p)
	}
	kept := withUploads()
	canceled := withUploads()
	unused := f.upload(t, failure.Audio, "fives")
	f.clock.Advance(72 * time.Hour)
	_, err := f.CancelBatch(t.Context(), f.caller, canceled.ID)
	check.Must(t, err)
	objects.opens.Store(0)
	f.later(t)
	check.Want(t, "reads of lines", objects.opens.Load(), 2) // one to make requests, one for the uploads
	f.wantObject(t, unused.Object, false)
	for n, u := range uploads {
		f.wantObject(t, u.Object, n < 3)
	}
	_, err = f.Generate(t.Context(), f.caller, requests.Params{Video: requests.Source{URL: "https://example.com/v.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: uploads[0].Source}}}})
	check.Error(t, "another call with the upload", err, failure.Invalid, "audio upload has expired")
	for n := range 3 {
		f.complete(t, open)
		f.later(t)
		open = kept.RequestID(n)
		r, err := f.Store.Requests.ByID(t.Context(), open)
		check.Must(t, err)
		check.Want(t, "audio", r.Audio.Object, uploads[n].Object)
		f.clock.Advance(30 * time.Hour)
	}
	f.later(t)
	for n, u := range uploads[:3] {
		f.wantObject(t, u.Object, n == 2) // the last one is used by an open request
	}
}

// TestDeleteMediaOfLines deletes the media of a finished request whose upload other lines of its batch wait to use. It can when no line waits.
func TestDeleteMediaOfLines(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	p := variants(3)
	u := f.upload(t, failure.Video, "fives")
	for n := range p.Lines {
		p.Lines[n].Video = u.Source
	}
	b := f.batch(t, p)
	f.complete(t, b.RequestID(0))
	_, err := f.DeleteMedia(t.Context(), f.caller, b.RequestID(0))
	check.Error(t, "while lines wait", err, failure.Unfinished, "a line of a batch waits to use the same upload; cancel the batch first, or wait for its end")
	f.wantObject(t, u.Object, true)
	f.later(t)
	f.wantLines(t, "after a sweep", b, "cqw")
	_, err = f.CancelBatch(t.Context(), f.caller, b.ID)
	check.Must(t, err)
	_, err = f.DeleteMedia(t.Context(), f.caller, b.RequestID(0))
	check.Must(t, err)
	f.wantObject(t, u.Object, false)
}

// unlisted lists no batches, as an index that lacks the last changes.
type unlisted struct{ lipsync.Batches }

func (unlisted) List(context.Context, string, lipsync.Batch, int) ([]lipsync.Batch, error) {
	return nil, nil
}

// TestDeleteMediaOfUnlisted deletes the media of a request just after a batch was made that the list of batches doesn't have yet.
func TestDeleteMediaOfUnlisted(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	p := variants(2)
	u := f.upload(t, failure.Video, "fives")
	p.Lines[0].Video, p.Lines[1].Video = u.Source, u.Source
	b := f.batch(t, p)
	f.complete(t, b.RequestID(0))
	f.Store.Batches = unlisted{f.Store.Batches}
	_, err := f.DeleteMedia(t.Context(), f.caller, b.RequestID(0))
	check.Error(t, "while a line waits", err, failure.Unfinished, "a line of a batch waits to use the same upload; cancel the batch first, or wait for its end")
	f.wantObject(t, u.Object, true)
}

// slow takes long to open an object.
type slow struct {
	lipsync.Objects
	advance func(time.Duration)
}

func (o slow) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	o.advance(5 * time.Second)
	return o.Objects.Open(ctx, key)
}

// TestSweepManyLines has more lines than a sweep has time to read. It keeps their uploads, and deletes those of others.
func TestSweepManyLines(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	f.generate(t, "")
	unused := f.upload(t, failure.Audio, "fives")
	for range 3 {
		f.batch(t, variants(1))
	}
	_, f.caller = f.newCaller(t, "b", 0)
	other := f.upload(t, failure.Audio, "fives")
	f.clock.Advance(48 * time.Hour)
	objects := f.Objects
	f.Objects = slow{objects, f.clock.Advance}
	f.later(t)
	f.wantObject(t, unused.Object, true)
	f.wantObject(t, other.Object, false)
	f.Objects = objects
	f.later(t)
	f.wantObject(t, unused.Object, false)
}

// TestBatchOfRevokedKey revokes the key of a batch. The lines that wait get no requests, and those with a request that wasn't noted keep it.
func TestBatchOfRevokedKey(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 2
	b := f.batch(t, variants(3))
	check.Want(t, "made by the call", strings.Count(b.Lines, "q"), 2)
	b.Lines = "www" // as if the process had died
	check.Must(t, f.Store.Batches.Swap(t.Context(), b))
	check.Must(t, f.Store.Keys.Revoke(t.Context(), f.caller.Account, f.caller.KeyID, f.clock.Now()))
	f.Limits.Open = 9
	f.later(t) // another process may still make requests that it began before
	f.wantLines(t, "a minute later", b, "www")
	f.later(t)
	got, err := f.Batch(t.Context(), f.caller, b.ID)
	check.Must(t, err)
	check.Want(t, "counts", got.Counts(), lipsync.Counts{Lines: 3, Queued: 2, Refused: 1})
	check.Want(t, "reason", got.State(strings.Index(got.Lines, "k")).Problem(), "the key was revoked or expired")
}

// TestBatchByOtherKey repeats the call of a batch with another key of the account, after the first key was revoked. The call makes no requests.
func TestBatchByOtherKey(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	p := variants(3)
	p.IdempotencyKey = new("k")
	b := f.batch(t, p)
	check.Must(t, f.Store.Keys.Revoke(t.Context(), f.caller.Account, f.caller.KeyID, f.clock.Now()))
	f.Limits.Open = 9
	_, f.caller = f.newCaller(t, f.caller.Account, 0)
	check.Want(t, "again", f.batch(t, p).ID, b.ID)
	f.wantLines(t, "after the call", b, "qww")
	f.later(t)
	f.later(t)
	f.wantLines(t, "after two sweeps", b, "qkk")
}

// crowded lets several processes try to make one request at a time, before any of them can have made it.
type crowded struct {
	lipsync.Requests
	together sync.WaitGroup
}

func (s *crowded) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, l lipsync.Limits) (lipsync.Request, bool, error) {
	s.together.Done()
	s.together.Wait()
	return s.Requests.Create(ctx, r, uploads, idem, l)
}

// TestMakersMeet makes each request of a batch by two processes at the same time. Both succeed.
func TestMakersMeet(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 1
	open := f.create(t, "a")
	b := f.batch(t, variants(1))
	check.Want(t, "lines of a full account", b.Lines, "w")
	f.complete(t, open)
	f.Limits.Open = 9
	f.clock.Advance(time.Minute)
	requests := &crowded{Requests: f.Store.Requests}
	requests.together.Add(2)
	f.Store.Requests = requests
	errs := make([]error, 2)
	var sweeps sync.WaitGroup
	for i := range errs {
		sweeps.Go(func() { errs[i] = f.Sweep(t.Context()) })
	}
	sweeps.Wait()
	check.Must(t, errors.Join(errs...))
	f.wantLines(t, "in the end", b, "q")
}

// failing can't create the request with the id.
type failing struct {
	lipsync.Requests
	id string
}

func (s *failing) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, l lipsync.Limits) (lipsync.Request, bool, error) {
	if r.ID == s.id {
		return lipsync.Request{}, false, errors.New("this one always fails")
	}
	return s.Requests.Create(ctx, r, uploads, idem, l)
}

// TestFailingLine has a line whose request can't be made. The others are made.
func TestFailingLine(t *testing.T) {
	f := newFixture(t)
	p := variants(60)
	requests := &failing{Requests: f.Store.Requests}
	p.IdempotencyKey = new("k")
	requests.id = f.batch(t, p).RequestID(20) // the id follows from the key
	f = newFixture(t)
	f.Store.Requests = &failing{f.Store.Requests, requests.id}
	b := f.batch(t, p)
	check.Want(t, "lines", b.Lines, strings.Repeat("q", 20)+"w"+strings.Repeat("q", 39))
}

// lateObjects takes long to store an object, and notes the time that was left.
type lateObjects struct {
	lipsync.Objects
	advance func(time.Duration)
	left    time.Duration
}

func (o *lateObjects) Put(ctx context.Context, key string, from io.Reader, size int64) error {
	o.advance(11 * time.Second)
	if deadline, ok := ctx.Deadline(); ok {
		o.left = time.Until(deadline)
	}
	return o.Objects.Put(ctx, key, from, size)
}

// TestBatchCallEnds makes a batch where storing its lines takes long. The call makes no requests then, and it ends in 20 s.
func TestBatchCallEnds(t *testing.T) {
	f := newFixture(t)
	objects := &lateObjects{Objects: f.Objects, advance: f.clock.Advance}
	f.Objects = objects
	b := f.batch(t, variants(3))
	check.Want(t, "lines", b.Lines, "www")
	if objects.left <= 0 || objects.left > 20*time.Second {
		t.Errorf("%v are left for storing the lines, want up to 20 s", objects.left)
	}
}
