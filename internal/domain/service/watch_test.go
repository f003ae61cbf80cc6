package service_test

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

// watcher records each event as a line.
type watcher struct{ lines []string }

func (w *watcher) Created(r lipsync.Request) { w.note("created", r.Status) }
func (w *watcher) Started(r lipsync.Request) {
	w.note("started after", r.StartedAt.Sub(r.CreatedAt))
}
func (w *watcher) Finished(r lipsync.Request) {
	w.note(r.Status, r.Failure.Code, "after", r.FinishedAt.Sub(r.CreatedAt), "and", r.Attempts, "attempts")
}
func (w *watcher) Postponed(r lipsync.Request, f failure.Failure) {
	w.note("postponed by", f.Code, "with", r.Attempts, "attempts and", r.Delays, "delays")
}
func (w *watcher) Posted(d lipsync.Delivery, _ time.Duration) { w.note("posted", d.Type, d.State) }

func (w *watcher) Waiting(oldest time.Duration) { w.note("oldest", oldest) }

func (w *watcher) Unreachable(hosts int) {
	if hosts > 0 {
		w.note("unreachable", hosts)
	}
}

func (w *watcher) Failing(longest time.Duration) {
	if longest > 0 {
		w.note("failing for", longest)
	}
}

func (w *watcher) Refused(e lipsync.BusEvent) { w.note("refused", e.Type) }
func (w *watcher) CallNotNoted()              { w.note("call not noted") }

func (w *watcher) note(words ...any) { w.lines = append(w.lines, fmt.Sprintln(words...)) }

// want checks the events since its last call.
func (w *watcher) want(t *testing.T, lines ...string) {
	t.Helper()
	for i := range lines {
		lines[i] += "\n"
	}
	if !slices.Equal(w.lines, lines) {
		t.Errorf("told %q, want %q", w.lines, lines)
	}
	w.lines = nil
}

func TestWatcher(t *testing.T) {
	f := newFixture(t)
	var w watcher
	f.Watcher = &w
	n := urls()
	n.IdempotencyKey = new("k")
	for range 2 {
		_, err := f.Generate(t.Context(), f.caller, n)
		check.Must(t, err)
	}
	w.want(t, "created queued")

	f.clock.Advance(7 * time.Second)
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "oldest 7s")
	r, err := f.Claim(t.Context(), "")
	check.Must(t, err)
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "started after 7s", "oldest 0s")

	check.Must(t, f.Release(t.Context(), r))
	r, err = f.Claim(t.Context(), "")
	check.Must(t, err)
	f.clock.Advance(3 * time.Second)
	check.Must(t, f.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace}))
	w.want(t, "failed no_face after 10s and 1 attempts")
}

// TestWatcherOfSpent checks the events of a request that no worker reports on.
func TestWatcherOfSpent(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	for range lipsync.MaxAttempts {
		_, err := f.Claim(t.Context(), id)
		check.Must(t, err)
		f.clock.Advance(lipsync.Lease)
	}
	var w watcher
	f.Watcher = &w
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "oldest 3m0s", "failed internal after 3m0s and 4 attempts")
}

// TestUnreachable checks the number of unreachable hosts, by which an operator tells one silent
// host from a failing network.
func TestUnreachable(t *testing.T) {
	for name, c := range map[string]struct {
		inputs [][2]string // video, audio
		err    error
		want   []string
	}{
		"one host":                      {[][2]string{{"a", "b"}, {"a", "c"}, {"A:81", "d"}, {"e", "a"}}, unreachable(0), []string{"oldest 0s", "unreachable 1"}},
		"all hosts":                     {[][2]string{{"a", "b"}, {"c", "d"}, {"e", "e"}}, unreachable(0), []string{"oldest 0s", "unreachable 3"}},
		"names that aren't found":       {[][2]string{{"a", "b"}, {"c", "d"}}, noHost(), []string{"oldest 0s", "unreachable 2"}},
		"the machine fails":             {[][2]string{{"a", "b"}, {"c", "d"}, {"e", "e"}}, syscall.ENOSPC, []string{"oldest 0s"}},
		"a fault of our own":            {[][2]string{{"a", "b"}, {"c", "d"}, {"e", "e"}}, errors.New("ours"), []string{"oldest 0s"}},
		"what waits for the first time": {[][2]string{{"a", "b"}, {"c", "d"}}, nil, []string{"oldest 0s"}},
	} {
		f := newFixture(t)
		f.GenerateRate = 100
		for _, in := range c.inputs {
			id, err := f.Generate(t.Context(), f.caller, requests.Params{
				Video: requests.Source{URL: "https://" + in[0] + "/v"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://" + in[1] + "/a"}}},
			})
			check.Must(t, err)
			if c.err != nil {
				f.attempt(t, id, c.err)
			}
		}
		var w watcher
		f.Watcher = &w
		check.Must(t, f.Sweep(t.Context()))
		t.Log(name)
		w.want(t, c.want...)
	}
	f := newFixture(t)
	for range 2 {
		n := urls()
		n.Video.URL, n.Audios[0].URL = f.upload(t, failure.Video, "video").Source, f.upload(t, failure.Audio, "audio").Source
		n.Output.UploadURL = "https://storage.example/"
		id, err := f.Generate(t.Context(), f.caller, n)
		check.Must(t, err)
		f.attempt(t, id, unsent(failure.UploadUnreachable))
	}
	var w watcher
	f.Watcher = &w
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "oldest 0s", "unreachable 1")
}

// TestFailing checks the time for which a fault of the machine lasts, by which an operator learns of
// it while only one request waits.
func TestFailing(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	f.attempt(t, id, syscall.ENOSPC)
	var w watcher
	f.Watcher = &w
	f.clock.Advance(20 * time.Minute)
	f.attempt(t, id, syscall.ENOSPC)
	w.want(t, "postponed by host_failing with 0 attempts and 2 delays")
	f.clock.Advance(time.Minute)
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "oldest 0s", "failing for 21m0s")

	f.clock.Advance(time.Hour)
	f.attempt(t, id, unreachable(0))
	w.want(t, "postponed by media_unreachable with 0 attempts and 3 delays")
	check.Must(t, f.Sweep(t.Context()))
	w.want(t, "oldest 0s", "unreachable 1")
}
