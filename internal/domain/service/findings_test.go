package service_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

// keepFindings keeps findings about a video for a new claimed request of a caller, and returns the request.
func (f *fixture) keepFindings(t *testing.T, c lipsync.Caller, video, name, content string) lipsync.Request {
	t.Helper()
	id, err := f.Generate(t.Context(), c, urls())
	check.Must(t, err)
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	check.Must(t, f.KeepFindings(t.Context(), r, sha256.Sum256([]byte(video)), name, strings.NewReader(content)))
	return r
}

// wantFindings checks what a request finds about a video; "" means nothing.
func (f *fixture) wantFindings(t *testing.T, r lipsync.Request, video, name, content string) {
	t.Helper()
	object, err := f.OpenFindings(t.Context(), r, sha256.Sum256([]byte(video)), name)
	if content == "" {
		check.Want(t, "findings that are not there", failure.CodeOf(err), failure.NotFound)
		return
	}
	check.Must(t, err)
	got, err := io.ReadAll(object)
	check.Must(t, err)
	check.Must(t, object.Close())
	check.Want(t, "findings", string(got), content)
}

// TestFindings keeps findings of two accounts about the same video. None finds those of the other, nor those about another video.
func TestFindings(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	_, other := f.newCaller(t, "b/../a", 0)
	a := f.keepFindings(t, f.caller, "video", "x", "of a")
	b := f.keepFindings(t, other, "video", "x", "of b")
	f.keepFindings(t, other, "video", "y", "also of b")
	f.wantFindings(t, a, "video", "x", "of a")
	f.wantFindings(t, b, "video", "x", "of b")
	f.wantFindings(t, a, "video", "y", "")
	f.wantFindings(t, a, "another video", "x", "")
}

// TestForgetFindings deletes the media of a request that only used the findings of another one. Those about the same video go, and no others.
func TestForgetFindings(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	_, stranger := f.newCaller(t, "b", 0)
	kept := f.keepFindings(t, f.caller, "video", "x", "of a")
	other := f.keepFindings(t, f.caller, "another video", "x", "of another")
	b := f.keepFindings(t, stranger, "video", "x", "of b")
	id := f.generate(t, "")
	used, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	f.wantFindings(t, used, "video", "x", "of a")
	_, err = f.Cancel(t.Context(), f.caller, id)
	check.Must(t, err)
	for range 2 {
		_, err = f.DeleteMedia(t.Context(), f.caller, id)
		check.Must(t, err)
		f.wantFindings(t, kept, "video", "x", "")
		f.wantFindings(t, other, "another video", "x", "of another")
		f.wantFindings(t, b, "video", "x", "of b")
	}
}

// TestForgetLaterFindings deletes the media of a request long after it kept findings. Those that a later request kept about the same video go.
func TestForgetLaterFindings(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	f.Objects = &dated{f.Objects, f.clock.Now, map[string]time.Time{}}
	f.Limits.Keep.Findings = 24 * time.Hour
	first := f.keepFindings(t, f.caller, "video", "x", "of the first")
	f.clock.Advance(23 * time.Hour)
	later := f.keepFindings(t, f.caller, "video", "y", "of a later one")
	f.clock.Advance(2 * time.Hour)
	check.Must(t, f.Tidy(t.Context(), lipsync.OrphanAge))
	f.wantFindings(t, later, "video", "x", "")
	f.wantFindings(t, later, "video", "y", "of a later one")
	check.Must(t, f.Complete(t.Context(), first, strings.NewReader("output"), 6))
	_, err := f.DeleteMedia(t.Context(), f.caller, first.ID)
	check.Must(t, err)
	f.wantFindings(t, later, "video", "y", "")
}

// ending reads the content of an object, and calls a function before its end.
type ending struct {
	io.Reader
	before func()
}

func (r *ending) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		r.before()
	}
	return n, err
}

// TestLateFindings cancels a request and deletes its media while its worker keeps findings. Nothing is left.
func TestLateFindings(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	err = f.KeepFindings(t.Context(), r, sha256.Sum256([]byte("video")), "x", &ending{strings.NewReader("late"), func() {
		_, err := f.Cancel(t.Context(), f.caller, id)
		check.Must(t, err)
		_, err = f.DeleteMedia(t.Context(), f.caller, id)
		check.Must(t, err)
	}})
	check.Want(t, "code", failure.CodeOf(err), failure.Conflict)
	f.wantEmpty(t)
	err = f.KeepFindings(t.Context(), r, sha256.Sum256([]byte("video")), "x", strings.NewReader("later"))
	check.Want(t, "code after the deletion", failure.CodeOf(err), failure.Conflict)
	f.wantEmpty(t)
}

// TestFindingsOfChangedVideo claims a request again, whose URL has another video now. It neither keeps nor uses findings about that.
func TestFindingsOfChangedVideo(t *testing.T) {
	f := newFixture(t)
	r := f.keepFindings(t, f.caller, "video", "x", "before")
	other := f.keepFindings(t, f.caller, "another", "x", "of another request")
	check.Must(t, f.Release(t.Context(), r))
	again, err := f.Claim(t.Context(), r.ID)
	check.Must(t, err)
	err = f.KeepFindings(t.Context(), again, sha256.Sum256([]byte("third")), "x", strings.NewReader("x"))
	check.Want(t, "code", failure.CodeOf(err), failure.NotFound)
	f.wantFindings(t, again, "another", "x", "")
	f.wantFindings(t, again, "video", "x", "before")
	f.wantFindings(t, other, "another", "x", "of another request")
}

// dated gives objects the time of the test's clock.
type dated struct {
	lipsync.Objects
	now   func() time.Time
	times map[string]time.Time
}

func (d *dated) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	d.times[key] = d.now()
	return d.Objects.Put(ctx, key, r, size)
}

func (d *dated) List(ctx context.Context, prefix string, f func(string, time.Time) error) error {
	return d.Objects.List(ctx, prefix, func(key string, _ time.Time) error { return f(key, d.times[key]) })
}

// TestTidyFindings deletes old findings, and the oldest ones while all together are too large.
func TestTidyFindings(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	f.Objects = &dated{f.Objects, f.clock.Now, map[string]time.Time{}}
	f.Limits.Keep.Findings = time.Hour
	check.Want(t, "keeps findings", f.KeepsFindings(), true)
	f.MaxFindings = 3*10 - 1
	first := f.keepFindings(t, f.caller, "1", "x", "0123456789")
	f.clock.Advance(time.Minute)
	f.keepFindings(t, f.caller, "2", "x", "0123456789")
	f.clock.Advance(time.Minute)
	f.wantFindings(t, first, "1", "x", "0123456789")
	last := f.keepFindings(t, f.caller, "3", "x", "0123456789")
	f.wantFindings(t, last, "3", "x", "0123456789")
	f.wantFindings(t, last, "1", "x", "")
	f.clock.Advance(time.Hour - time.Second)
	check.Must(t, f.Tidy(t.Context(), 0))
	f.wantFindings(t, last, "2", "x", "")
	f.wantFindings(t, last, "3", "x", "0123456789")
	f.Limits.Keep.Findings = 0
	check.Want(t, "keeps findings", f.KeepsFindings(), false)
	check.Must(t, f.Tidy(t.Context(), 0))
	left := 0
	check.Must(t, f.Objects.List(t.Context(), "findings/", func(string, time.Time) error { left++; return nil }))
	check.Want(t, "objects left", left, 0)
}

// counted counts the lists of objects.
type counted struct {
	lipsync.Objects
	lists int
}

func (c *counted) List(ctx context.Context, prefix string, f func(string, time.Time) error) error {
	c.lists++
	return c.Objects.List(ctx, prefix, f)
}

// TestFindingsOfMany has an account that keeps many findings, and another one with few. The first one loses its oldest, the other nothing, and few requests
// look at all findings.
func TestFindingsOfMany(t *testing.T) {
	f := newFixture(t)
	f.GenerateRate = 100
	objects := &counted{Objects: &dated{f.Objects, f.clock.Now, map[string]time.Time{}}}
	f.Objects = objects
	f.Limits.Keep.Findings = time.Hour
	f.MaxFindings = 200
	_, alice := f.newCaller(t, "alice", 0)
	old := f.keepFindings(t, alice, "0", "x", "0123456789")
	var last lipsync.Request
	for n := range 40 {
		f.clock.Advance(time.Second)
		last = f.keepFindings(t, f.caller, fmt.Sprint(n), "x", "0123456789")
	}
	f.wantFindings(t, last, "39", "x", "0123456789")
	f.wantFindings(t, last, "0", "x", "")
	f.wantFindings(t, old, "0", "x", "0123456789")
	if objects.lists > 15 {
		t.Errorf("41 requests looked %d times at all findings", objects.lists)
	}
}

// TestFindingsWithoutSpace keeps nothing on a full disk.
func TestFindingsWithoutSpace(t *testing.T) {
	f := newFixture(t)
	r := f.keepFindings(t, f.caller, "video", "x", "before")
	f.Room = func(int64) error { return &failure.Error{Code: failure.NoSpace, Message: "full"} }
	err := f.KeepFindings(t.Context(), r, sha256.Sum256([]byte("other")), "x", strings.NewReader("content"))
	check.Want(t, "code", failure.CodeOf(err), failure.NoSpace)
	f.wantFindings(t, r, "other", "x", "")
}
