package lipsync_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// wantEmpty checks that no object exists.
func (h *fixture) wantEmpty(t *testing.T) {
	t.Helper()
	must(t, h.Objects.List(t.Context(), "", func(key string, _ time.Time) error {
		t.Errorf("object %s is left", key)
		return nil
	}))
}

func TestAttempts(t *testing.T) {
	h := newFixture(t)
	spent, other := h.generate(t, ""), h.generate(t, "")
	for attempt := 1; attempt <= lipsync.MaxAttempts; attempt++ {
		r, err := h.Claim(t.Context(), spent)
		must(t, err)
		want(t, "attempts", r.Attempts, attempt)
		h.clock.Advance(lipsync.Lease) // the worker died
	}
	r, err := h.Claim(t.Context(), "")
	must(t, err)
	want(t, "claimed instead", r.ID, other)
	r, _, err = h.Request(t.Context(), h.caller, spent)
	must(t, err)
	want(t, "status", r.Status, lipsync.Failed)
	want(t, "error", r.Failure.Sentence(), "processing failed")
	for _, id := range []string{spent, other, ""} {
		_, err := h.Claim(t.Context(), id)
		want(t, "code", lipsync.CodeOf(err), lipsync.NotFound)
	}
}

func TestReleaseGivesBack(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	for range 2 * lipsync.MaxAttempts {
		r, err := h.Claim(t.Context(), "")
		must(t, err)
		must(t, h.Release(t.Context(), r))
	}
	h.complete(t, id)
}

func TestLostLease(t *testing.T) {
	h := newFixture(t)
	n := h.media(t, "v", "a")
	_, err := h.Generate(t.Context(), h.caller, n)
	must(t, err)
	slow, err := h.Claim(t.Context(), "")
	must(t, err)
	h.clock.Advance(lipsync.Lease)
	quick, err := h.Claim(t.Context(), "")
	must(t, err)
	for name, err := range map[string]error{
		"renew":    h.Renew(t.Context(), slow),
		"release":  h.Release(t.Context(), slow),
		"fail":     h.Fail(t.Context(), slow, lipsync.Failure{Code: lipsync.NoFace}),
		"complete": h.Complete(t.Context(), slow, strings.NewReader("slow"), 4),
	} {
		want(t, name, lipsync.CodeOf(err), lipsync.Conflict)
	}
	h.wantObject(t, n.Video.Object, true)
	must(t, h.Complete(t.Context(), quick, strings.NewReader("quick"), 5))
	_, output, err := h.Request(t.Context(), h.caller, n.ID)
	must(t, err)
	_, body := h.get(output)
	want(t, "output", body, "quick")
	h.wantObject(t, n.Video.Object, false)

	// Both may try again. The first got no answer, and the second fails again.
	must(t, h.Complete(t.Context(), quick, strings.NewReader("quick"), 5))
	err = h.Complete(t.Context(), slow, strings.NewReader("slow"), 4)
	want(t, "slow again", lipsync.CodeOf(err), lipsync.Conflict)
	_, body = h.get(output)
	want(t, "output after that", body, "quick")
	objects := 0
	must(t, h.Objects.List(t.Context(), "", func(string, time.Time) error { objects++; return nil }))
	want(t, "objects", objects, 1)
}

// TestOneOutput has a worker that dies after it stored its output and before it finishes the
// request.
func TestOneOutput(t *testing.T) {
	h := newFixture(t)
	id := h.generate(t, "")
	dead, err := h.Claim(t.Context(), id)
	must(t, err)
	leases := h.Store.Leases
	h.Store.Leases = silent{leases}
	if err := h.Complete(t.Context(), dead, strings.NewReader("first"), 5); err == nil {
		t.Fatal("the end was told")
	}
	h.Store.Leases = leases
	h.clock.Advance(lipsync.Lease)
	next, err := h.Claim(t.Context(), id)
	must(t, err)
	must(t, h.Complete(t.Context(), next, strings.NewReader("second"), 6))
	var keys []string
	must(t, h.Objects.List(t.Context(), "", func(key string, _ time.Time) error { keys = append(keys, key); return nil }))
	want(t, "outputs", strings.Join(keys, " "), "outputs/"+id+"/2.mp4")
}

// silent is a store that a dying worker can't reach.
type silent struct{ lipsync.Leases }

func (silent) Finish(context.Context, string, string, time.Time, lipsync.Outcome) error {
	return errors.New("no answer")
}

func TestFail(t *testing.T) {
	h := newFixture(t)
	n := h.media(t, "v", "a")
	_, err := h.Generate(t.Context(), h.caller, n)
	must(t, err)
	r, err := h.Claim(t.Context(), "")
	must(t, err)
	must(t, h.Fail(t.Context(), r, lipsync.Failure{Code: lipsync.NoFace}))
	r, output, err := h.Request(t.Context(), h.caller, n.ID)
	must(t, err)
	want(t, "status", r.Status, lipsync.Failed)
	want(t, "failure", r.Failure, lipsync.Failure{Code: lipsync.NoFace})
	want(t, "finished", r.FinishedAt, h.clock.Now())
	want(t, "has an output", output != nil, false)
	h.wantEmpty(t)
}

func TestOpenMedia(t *testing.T) {
	h := newFixture(t)
	n := h.media(t, "the video", "a")
	media, size, err := h.OpenMedia(t.Context(), lipsync.Input{Object: n.Video.Object})
	must(t, err)
	defer media.Close()
	text, err := io.ReadAll(media)
	must(t, err)
	want(t, "media", string(text), "the video")
	want(t, "size", size, 9)
}

// TestLastWord ends the caller's context while the request becomes final, as a worker's context
// does when its lease ends.
func TestLastWord(t *testing.T) {
	h := newFixture(t)
	n := h.media(t, "v", "a")
	_, err := h.Generate(t.Context(), h.caller, n)
	must(t, err)
	r, err := h.Claim(t.Context(), "")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	h.Store.Leases = hasty{h.Store.Leases, stop}
	must(t, h.Complete(ctx, r, strings.NewReader("output"), 6))
	h.wantObject(t, n.Video.Object, false)
}

// hasty is a store that ends the caller's context when a request becomes final.
type hasty struct {
	lipsync.Leases
	stop func()
}

func (s hasty) Finish(ctx context.Context, id, token string, now time.Time, o lipsync.Outcome) error {
	err := s.Leases.Finish(ctx, id, token, now, o)
	s.stop()
	return errors.Join(err, ctx.Err())
}
