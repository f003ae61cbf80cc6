package worker_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
	"lipsync/internal/work/worker"
)

// TestSmall has a worker of small requests do one that is small, and others that turn out large, which it gives back without an attempt, and whose
// times it doesn't note.
func TestSmall(t *testing.T) {
	const second = 2 * 25 * 1280 * 720 / 1000 // of 720p
	const deadline = 10 * time.Minute
	for name, c := range map[string]struct {
		render renderFunc
		fetch  fetchFunc
		want   lipsync.Request
	}{
		"small": {measures(30 * second), nil, lipsync.Request{Status: lipsync.Completed, Attempts: 1}},
		"long":  {measures(481 * second), nil, lipsync.Request{Status: lipsync.Processing, Class: lipsync.Large}},
		"slow": {func(ctx context.Context, _ render.Job, _ render.Observer) (made render.Result, err error) {
			<-ctx.Done()
			return made, ctx.Err()
		}, nil, lipsync.Request{Status: lipsync.Processing, Class: lipsync.Large}},
		"too large for the disk": {func(context.Context, render.Job, render.Observer) (made render.Result, err error) {
			return made, failure.New(failure.NoSpace, "full")
		}, nil, lipsync.Request{Status: lipsync.Processing, Class: lipsync.Large}},
		"many bytes": {measures(1), func(_ context.Context, _ string, _ io.Writer, limit int64) error {
			if limit != lipsync.MostSmallBytes {
				return fmt.Errorf("the limit is %d", limit)
			}
			return failure.New(failure.TooLarge, "too large")
		}, lipsync.Request{Status: lipsync.Processing, Class: lipsync.Large}},
		"of a media fault": {func(context.Context, render.Job, render.Observer) (made render.Result, err error) {
			return made, failure.Failure{Code: failure.NoFace}.Because(nil)
		}, nil, lipsync.Request{Status: lipsync.Failed, Attempts: 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := setupTelling(t, c.render)
			d := &demand{}
			f.Service.Duty, f.Service.Pooled, f.Service.Demand, f.Config().End = lipsync.DoesSmall, true, d, time.Now().Add(deadline)
			if c.fetch != nil {
				f.Config().Fetcher = c.fetch
			}
			id := f.request(t, "v", "a")
			if err := f.Stay(t.Context(), t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			r, err := f.Service.Store.Requests.ByID(t.Context(), id)
			if err != nil || r.Status != c.want.Status || r.Class != c.want.Class || r.Attempts != c.want.Attempts || r.Lease != "" {
				t.Errorf("%s: got %s %q after %d attempts (%v), want %s %q after %d", name, r.Status, r.Class, r.Attempts, err, c.want.Status, c.want.Class, c.want.Attempts)
			}
			if len(d.took) != c.want.Attempts {
				t.Errorf("%s: got %+v noted, want the times of %d attempts", name, d.took, c.want.Attempts)
			}
		})
	}
}

// weighed has one object of a size that it doesn't really have.
type weighed struct {
	lipsync.Objects
	size int64
}

func (o weighed) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if key != "inputs/a" {
		return o.Objects.Open(ctx, key)
	}
	return io.NopCloser(strings.NewReader("a")), o.size, nil
}

// TestSmallBytes has a worker of small requests do one whose inputs have as many bytes in all as they may have, and one that has one more.
func TestSmallBytes(t *testing.T) {
	const left = lipsync.MostSmallBytes - 3 // after the video
	for size, c := range map[int64]struct {
		class  lipsync.Class
		status lipsync.Status
	}{
		left:     {lipsync.Small, lipsync.Completed},
		left + 1: {lipsync.Large, lipsync.Processing},
	} {
		f := setup(t, concatenate)
		f.Service.Duty, f.Service.Objects = lipsync.DoesSmall, weighed{f.Service.Objects, size}
		id, err := f.Service.Generate(t.Context(), f.caller, requests.Params{
			Video: requests.Source{URL: "http://web/vvv"}, Audios: []requests.Track{{Source: requests.Source{Object: "inputs/a"}}}, ID: f.Service.NewRequestID(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Stay(t.Context(), t.Context()); err != nil {
			t.Errorf("%d: %v", size, err)
		}
		if r, err := f.Service.Store.Requests.ByID(t.Context(), id); err != nil || r.Class != c.class || r.Status != c.status {
			t.Errorf("%d: got the class %q and %s (%v), want %q and %s", size, r.Class, r.Status, err, c.class, c.status)
		}
	}
}

// measures returns a renderer that tells the size of the job, and then makes the output unless it is stopped.
func measures(size int64) renderFunc {
	return func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
		o.Measured(time.Second, time.Second, size)
		if ctx.Err() != nil {
			return made, ctx.Err()
		}
		return made, concatenate(ctx, j)
	}
}

// TestStaySmall checks that a worker of small requests claims no large one, and ends as soon as no small one waits.
func TestStaySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		d := &demand{}
		f.Service.Duty, f.Service.Pooled, f.Service.Demand = lipsync.DoesSmall, true, d
		large, err := f.Service.Generate(t.Context(), f.caller, requests.Params{
			Video: requests.Source{Object: "inputs/x", Size: 1 << 30}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/a"}}}, ID: f.Service.NewRequestID(),
		})
		if err != nil {
			t.Fatal(err)
		}
		small, began := []string{f.request(t, "v", "a"), f.request(t, "v", "a")}, time.Now()
		if err := f.Stay(t.Context(), t.Context()); err != nil {
			t.Fatal(err)
		}
		f.want(t, small[0], lipsync.Completed, "", 1)
		f.want(t, small[1], lipsync.Completed, "", 1)
		f.want(t, large, lipsync.Queued, "", 0)
		if took := time.Since(began); took > 0 {
			t.Errorf("it stayed for %s, want it to end at once", took)
		}
		if want := (lipsync.Stint{Duty: lipsync.DoesSmall}); len(d.took) != 2 || d.took[0] != want || d.took[1] != want {
			t.Errorf("got %+v noted, want two small requests of a worker of small ones", d.took)
		}
	})
}

// TestApart checks that StayApart has each request done apart until there is none, and notes the times of those that are not given back.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		d := &demand{}
		f.Service.Duty, f.Service.Pooled, f.Service.Demand = lipsync.DoesSmall, true, d
		calls := 0
		apart := func(context.Context) (bool, error) {
			calls++
			time.Sleep(time.Duration(calls) * time.Second)
			return calls < 4, map[int]error{2: worker.ErrEnlarged}[calls]
		}
		if err := worker.StayApart(t.Context(), t.Context(), f.Config().Work, f.Config().Log, apart); err != nil || calls != 4 {
			t.Errorf("got %d calls (%v), want 4", calls, err)
		}
		want := []lipsync.Stint{{Duty: lipsync.DoesSmall, Took: time.Second}, {Duty: lipsync.DoesSmall, Took: 3 * time.Second}}
		if !slices.Equal(d.took, want) {
			t.Errorf("got %+v noted, want %+v", d.took, want)
		}
	})
}
