package service_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

func TestCancel(t *testing.T) {
	const finished = "lipsync request is already finished"
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, f *fixture, id string)
		code    failure.Code
		message string
		told    []string
	}{
		{"queued", func(*testing.T, *fixture, string) {}, "", "",
			[]string{"failed canceled after 3s and 0 attempts"}},
		{"processing", func(t *testing.T, f *fixture, id string) { _, err := f.Claim(t.Context(), id); check.Must(t, err) }, "", "",
			[]string{"started after 3s", "failed canceled after 3s and 1 attempts"}},
		{"canceled", func(t *testing.T, f *fixture, id string) {
			_, err := f.Cancel(t.Context(), f.caller, id)
			check.Must(t, err)
		}, "", "",
			[]string{"failed canceled after 3s and 0 attempts"}},
		{"completed", func(t *testing.T, f *fixture, id string) { f.complete(t, id) }, failure.Finished, finished,
			[]string{"started after 3s", "completed  after 3s and 1 attempts"}},
		{"failed", func(t *testing.T, f *fixture, id string) {
			r, err := f.Claim(t.Context(), id)
			check.Must(t, err)
			check.Must(t, f.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace}))
		}, failure.Finished, finished, []string{"started after 3s", "failed no_face after 3s and 1 attempts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			n := f.media(t, "v", "a")
			id, err := f.Generate(t.Context(), f.caller, n)
			check.Must(t, err)
			var w watcher
			f.Watcher = &w
			f.clock.Advance(3 * time.Second)
			c.prepare(t, f, id)
			got, err := f.Cancel(t.Context(), f.caller, id)
			check.Error(t, "cancel", err, c.code, c.message)
			w.want(t, c.told...)
			f.wantObject(t, n.Video.Object, false)
			f.wantObject(t, n.Audios[0].Object, false)
			if c.code == "" {
				stored, _, err := f.Request(t.Context(), f.caller, id)
				check.Must(t, err)
				check.Want(t, "answer", got, stored)
				check.Want(t, "failure", got.Failure, failure.Failure{Code: failure.Canceled})
			}
		})
	}
}

// TestCancelByName checks that a reference id names the newest request, as in reads.
func TestCancelByName(t *testing.T) {
	f := newFixture(t)
	older, newer := f.generate(t, "x"), f.generate(t, "x")
	got, err := f.Cancel(t.Context(), f.caller, "x")
	check.Must(t, err)
	check.Want(t, "canceled", got.ID, newer)
	_, other := f.newCaller(t, "b", 0)
	for _, name := range []string{older, "x", "unknown", ""} {
		_, err := f.Cancel(t.Context(), other, name)
		check.Error(t, "other account, "+name, err, failure.NotFound, "lipsync request not found")
	}
	r, _, err := f.Request(t.Context(), f.caller, older)
	check.Must(t, err)
	check.Want(t, "status of the older", r.Status, lipsync.Queued)
}

// TestCanceledWhileStored cancels a request while the worker stores its output, and checks that the
// output is deleted.
func TestCanceledWhileStored(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	_, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Must(t, f.Held(t.Context(), r))
	output := reader(func([]byte) (int, error) {
		_, err := f.Cancel(t.Context(), f.caller, n.ID)
		check.Must(t, err)
		return copy(make([]byte, 6), "output"), errors.New("stopped")
	})
	if err := f.Complete(t.Context(), r, output, 6); err == nil {
		t.Error("a canceled request was completed")
	}
	check.Want(t, "code of a look", failure.CodeOf(f.Held(t.Context(), r)), failure.Conflict)
	err = f.Complete(t.Context(), r, strings.NewReader("output"), 6)
	check.Want(t, "code of a complete", failure.CodeOf(err), failure.Conflict)
	f.wantEmpty(t)
}

// TestNothingOfTheDead checks that a failed request has no outputs of workers that died between
// storing the output and finishing the request.
func TestNothingOfTheDead(t *testing.T) {
	for name, end := range map[string]func(f *fixture, r lipsync.Request) error{
		"canceled": func(f *fixture, r lipsync.Request) error {
			_, err := f.Cancel(t.Context(), f.caller, r.ID)
			return err
		},
		"failed": func(f *fixture, r lipsync.Request) error {
			return f.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace})
		},
	} {
		f := newFixture(t)
		id := f.generate(t, "")
		var r lipsync.Request
		for range 2 {
			var err error
			r, err = f.Claim(t.Context(), id)
			check.Must(t, err)
			broken := f.Ports
			broken.Store.Leases = silent{f.Store.Leases}
			dying := lipsynctest.NewService(t, f.Config, broken)
			if dying.Complete(t.Context(), r, strings.NewReader("output"), 6) == nil {
				t.Fatal("the end was told")
			}
			f.clock.Advance(lipsync.Lease)
		}
		f.wantObject(t, "outputs/"+id+"/2.mp4", true)
		if err := end(f, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.wantEmpty(t)
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }
