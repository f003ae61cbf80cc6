package service_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

// wantEmpty checks that no object exists.
func (f *fixture) wantEmpty(t *testing.T) {
	t.Helper()
	check.Must(t, f.Objects.List(t.Context(), "", func(key string, _ time.Time) error {
		t.Errorf("object %s is left", key)
		return nil
	}))
}

func TestAttempts(t *testing.T) {
	f := newFixture(t)
	spent, other := f.generate(t, ""), f.generate(t, "")
	for attempt := 1; attempt <= lipsync.MaxAttempts; attempt++ {
		r, err := f.Claim(t.Context(), spent)
		check.Must(t, err)
		check.Want(t, "attempts", r.Attempts, attempt)
		f.clock.Advance(lipsync.Lease) // the worker died
	}
	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Want(t, "claimed instead", r.ID, other)
	r, _, err = f.Request(t.Context(), f.caller, spent)
	check.Must(t, err)
	check.Want(t, "status", r.Status, lipsync.Failed)
	check.Want(t, "error", r.Failure.Sentence(), "processing failed")
	for _, id := range []string{spent, other, ""} {
		_, err := f.Claim(t.Context(), id)
		check.Want(t, "code", failure.CodeOf(err), failure.NotFound)
	}
}

func TestReleaseGivesBack(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for range 2 * lipsync.MaxAttempts {
		r, err := f.Claim(t.Context(), "")
		check.Must(t, err)
		check.Must(t, f.Release(t.Context(), r))
	}
	f.complete(t, id)
}

func TestLostLease(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	_, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	slow, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	f.clock.Advance(lipsync.Lease)
	quick, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	for name, err := range map[string]error{
		"renew":    f.Renew(t.Context(), slow),
		"release":  f.Release(t.Context(), slow),
		"fail":     f.Fail(t.Context(), slow, failure.Failure{Code: failure.NoFace}),
		"complete": f.Complete(t.Context(), slow, strings.NewReader("slow"), 4),
	} {
		check.Want(t, name, failure.CodeOf(err), failure.Conflict)
	}
	f.wantObject(t, n.Video.Object, true)
	check.Must(t, f.Complete(t.Context(), quick, strings.NewReader("quick"), 5))
	_, output, err := f.Request(t.Context(), f.caller, n.ID)
	check.Must(t, err)
	_, body := f.get(output)
	check.Want(t, "output", body, "quick")
	f.wantObject(t, n.Video.Object, false)

	// Both may try again. The first got no answer, and the second fails again.
	check.Must(t, f.Complete(t.Context(), quick, strings.NewReader("quick"), 5))
	err = f.Complete(t.Context(), slow, strings.NewReader("slow"), 4)
	check.Want(t, "slow again", failure.CodeOf(err), failure.Conflict)
	_, body = f.get(output)
	check.Want(t, "output after that", body, "quick")
	objects := 0
	check.Must(t, f.Objects.List(t.Context(), "", func(string, time.Time) error { objects++; return nil }))
	check.Want(t, "objects", objects, 1)
}

// TestOneOutput has a worker that dies after it stored its output and before it finishes the
// request.
func TestOneOutput(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	dead, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	leases := f.Store.Leases
	f.Store.Leases = silent{leases}
	if err := f.Complete(t.Context(), dead, strings.NewReader("first"), 5); err == nil {
		t.Fatal("the end was told")
	}
	f.Store.Leases = leases
	f.clock.Advance(lipsync.Lease)
	next, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	check.Must(t, f.Complete(t.Context(), next, strings.NewReader("second"), 6))
	var keys []string
	check.Must(t, f.Objects.List(t.Context(), "", func(key string, _ time.Time) error { keys = append(keys, key); return nil }))
	check.Want(t, "outputs", strings.Join(keys, " "), "outputs/"+id+"/2.mp4")
}

// silent is a store that a dying worker can't reach.
type silent struct{ lipsync.Leases }

func (silent) Change(context.Context, string, lipsync.Transition) (lipsync.Request, error) {
	return lipsync.Request{}, errors.New("no answer")
}

func TestFail(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	_, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Must(t, f.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace}))
	r, output, err := f.Request(t.Context(), f.caller, n.ID)
	check.Must(t, err)
	check.Want(t, "status", r.Status, lipsync.Failed)
	check.Want(t, "failure", r.Failure, failure.Failure{Code: failure.NoFace})
	check.Want(t, "finished", r.FinishedAt, f.clock.Now())
	check.Want(t, "has an output", output != nil, false)
	f.wantEmpty(t)
}

func TestOpenMedia(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "the video", "a")
	media, size, err := f.OpenMedia(t.Context(), lipsync.Input{Object: n.Video.Object})
	check.Must(t, err)
	defer media.Close()
	text, err := io.ReadAll(media)
	check.Must(t, err)
	check.Want(t, "media", string(text), "the video")
	check.Want(t, "size", size, 9)
}

// TestLastWord ends the caller's context while the request becomes final, as a worker's context
// does when its lease ends.
func TestLastWord(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	_, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	f.Store.Leases = hasty{f.Store.Leases, stop}
	check.Must(t, f.Complete(ctx, r, strings.NewReader("output"), 6))
	f.wantObject(t, n.Video.Object, false)
}

// hasty is a store that ends the caller's context when a request becomes final.
type hasty struct {
	lipsync.Leases
	stop func()
}

func (s hasty) Change(ctx context.Context, id string, t lipsync.Transition) (lipsync.Request, error) {
	r, err := s.Leases.Change(ctx, id, t)
	s.stop()
	return r, errors.Join(err, ctx.Err())
}
