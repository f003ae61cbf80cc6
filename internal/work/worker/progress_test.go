package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/render"
)

// report is one report of a worker, and its time.
type report struct {
	lipsync.Progress
	at time.Time
}

// reports is a store that records the reports of a worker.
type reports struct {
	lipsync.Leases
	all []report
}

func (s *reports) Report(ctx context.Context, id, token string, p lipsync.Progress) error {
	s.all = append(s.all, report{p, time.Now()})
	return s.Leases.Report(ctx, id, token, p)
}

// slowWeb takes five seconds for each file.
type slowWeb struct{ web }

func (w slowWeb) Fetch(ctx context.Context, url string, to io.Writer, limit int64) error {
	time.Sleep(5 * time.Second)
	return w.web.Fetch(ctx, url, to, limit)
}

// TestProgress renders at a steady pace: 25 s for the analysis and 67 s for the rest.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
			for _, stage := range []struct {
				name  order.Stage
				steps int // in tenths of a second
			}{{order.Analyzing, 250}, {order.Rendering, 670}} {
				for step := range stage.steps + 1 {
					o.Progress(render.Progress{Stage: stage.name, Done: step, Total: stage.steps})
					time.Sleep(100 * time.Millisecond)
				}
			}
			return made, concatenate(ctx, j)
		})
		f.Config().Fetcher = slowWeb{}
		store := &reports{Leases: f.Service.Store.Leases}
		f.Service.Store.Leases = store
		id := f.request(t, "video", "audio")
		f.Do(context.Background(), id)
		f.want(t, id, lipsync.Completed, "", 1)

		wantReports(t, store.all, time.Now())
		if r := f.get(t, id); r.Progress != (lipsync.Progress{}) {
			t.Errorf("the completed request still has %+v", r.Progress)
		}
	})
}

// wantReports checks the reports of TestProgress. ended is the end of the attempt.
func wantReports(t *testing.T, all []report, ended time.Time) {
	t.Helper()
	known, before := 0, report{}
	for _, r := range all {
		if r.at.Sub(before.at) < time.Second {
			t.Errorf("%v came %v after the one before", r, r.at.Sub(before.at))
		}
		if r.Percent < before.Percent || r.Percent > 99 || r.Progress == before.Progress {
			t.Errorf("%v came after %v", r, before)
		}
		if off := r.Ends.Sub(ended).Abs(); !r.Ends.IsZero() && (off > 4*time.Second || r.Stage == order.Fetching) {
			t.Errorf("%v expects an end that is %v off", r, off)
		}
		if !r.Ends.IsZero() {
			known++
		}
		before = r
	}
	if all[0].Stage != order.Fetching || known < 80 || len(all) > 100 {
		t.Errorf("got %d reports, %d with an end, the first %v: want 80 to 100, beginning with fetching", len(all), known, all[0])
	}
}

// TestOddProgress has a renderer whose estimates are wrong. An attempt's percentage and end must
// never go back.
func TestOddProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
			for _, p := range []render.Progress{
				{Stage: "analyzing"}, {Stage: "analyzing", Done: 90, Total: 100}, {Stage: "analyzing", Done: 90, Total: 1000},
				{Stage: "analyzing", Done: 500, Total: 100}, {Stage: "rendering", Done: 5},
			} {
				o.Progress(p)
				time.Sleep(2 * time.Second)
			}
			return made, errors.New("disk full")
		})
		store := &reports{Leases: f.Service.Store.Leases}
		f.Service.Store.Leases = store
		f.Do(context.Background(), f.request(t, "video", "audio"))
		var got []string
		for _, r := range store.all {
			got = append(got, fmt.Sprint(r.Stage, " ", r.Percent))
		}
		if want := []string{"analyzing 5", "analyzing 27", "analyzing 30", "rendering 97"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// deaf is a store that accepts no report. Its calls fail at once, or at the end of their time.
type deaf struct {
	lipsync.Leases
	hangs bool
}

func (s deaf) Report(ctx context.Context, _, _ string, _ lipsync.Progress) error {
	if s.hangs {
		<-ctx.Done()
	}
	return errors.New("no answer")
}

// TestDeafStore renders for several leases, which must be renewed in spite of the store.
func TestDeafStore(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
				for step := range 200 {
					o.Progress(render.Progress{Stage: "rendering", Done: step, Total: 200})
					time.Sleep(time.Second)
				}
				return made, errors.Join(ctx.Err(), concatenate(ctx, j))
			})
			f.Service.Store.Leases = deaf{f.Service.Store.Leases, hangs}
			id := f.request(t, "video", "audio")
			f.Do(context.Background(), id)
			f.want(t, id, lipsync.Completed, "", 1)
		})
	}
}
