package worker_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/render"
)

// drip is a web whose server needs a time for paths that begin with "drip", and to take an output.
type drip struct {
	web
	takes     time.Duration
	until     time.Time    // at least
	now, most atomic.Int64 // slow transfers
}

func (d *drip) wait() {
	d.most.Store(max(d.most.Load(), d.now.Add(1)))
	time.Sleep(max(d.takes, time.Until(d.until)))
	d.now.Add(-1)
}

func (d *drip) Fetch(ctx context.Context, url string, w io.Writer, limit int64) error {
	if strings.Contains(url, "/drip") {
		d.wait()
	}
	return d.web.Fetch(ctx, url, w, limit)
}

func (d *drip) Send(context.Context, string, io.ReaderAt, int64, string) error {
	d.wait()
	return nil
}

// TestSlowServers has one worker, an account with 8 requests whose servers take 4 minutes to give or to take a file, and another one. The requests of
// the other one begin within the time of one request of the first, as told; all are completed, and few of the first wait for their servers at once.
func TestSlowServers(t *testing.T) {
	const work, servers, n = 10 * time.Second, 4 * time.Minute, 8
	for name, params := range map[string]requests.Params{
		"that give": {Video: requests.Source{URL: "http://web/drip"}},
		"that take": {Video: requests.Source{URL: "http://web/quick"}, Order: order.Order{Output: order.Output{UploadURL: "http://web/out"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				web := &drip{takes: servers}
				f := setup(t, func(ctx context.Context, j render.Job) error {
					time.Sleep(work)
					return concatenate(ctx, j)
				})
				f.Config().Fetcher, f.Config().Sender = web, web
				f.Service.Workers, f.Service.Working = 1, f.Working
				other := lipsync.Caller{Account: "other"}
				params.Audios = []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}}
				for range n {
					if _, err := f.Service.Generate(t.Context(), f.caller, params); err != nil {
						t.Fatal(err)
					}
				}
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); f.Run(ctx, 1, nil) }()
				slow := f.caller
				for i := range n {
					f.caller = other
					time.Sleep(servers / 4)
					id, made := f.request(t, fmt.Sprint("video", i), "audio"), time.Now()
					place, err := f.Service.Place(t.Context(), f.get(t, id))
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(servers / 4)
					took := f.get(t, id).FinishedAt.Sub(made)
					if most := 2*work + 10*time.Second; took <= 0 || took > most {
						t.Errorf("request %d took %v, want at most %v", i, took, most)
					}
					if i > 0 && place.Left > 5*work {
						t.Errorf("request %d: %v were told, and it took %v", i, place.Left, took)
					}
				}
				time.Sleep(n * servers)
				stop()
				<-done
				if _, ended, err := f.Service.Requests(context.Background(), slow, service.ListQuery{Status: lipsync.Completed}); err != nil || ended != n {
					t.Errorf("%d of %d slow requests were completed (%v)", ended, n, err)
				}
				if most := web.most.Load(); most < 4 || most > 5 {
					t.Errorf("%d waited for servers at once, want 4 and one that works", most)
				}
			})
		})
	}
}

// TestTurnsAfterServers has four requests of an account get their media at the same time, each of which takes a minute to render. A request of another
// account that comes then waits for one of them.
func TestTurnsAfterServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, j render.Job) error {
			time.Sleep(time.Minute)
			return concatenate(ctx, j)
		})
		f.Config().Fetcher = &drip{until: time.Now().Add(10 * time.Minute)}
		for range 4 {
			f.request(t, "drip", "audio")
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx, 1, nil) }()
		time.Sleep(11 * time.Minute)
		f.caller = lipsync.Caller{Account: "other"}
		id := f.request(t, "video", "audio")
		time.Sleep(2*time.Minute + 10*time.Second)
		if r := f.get(t, id); r.Status != lipsync.Completed {
			t.Errorf("after two minutes the request is %s", r.Status)
		}
		stop()
		<-done
	})
}

// fetchFunc is a Fetcher.
type fetchFunc func(ctx context.Context, url string, w io.Writer, limit int64) error

func (f fetchFunc) Fetch(ctx context.Context, url string, w io.Writer, limit int64) error {
	return f(ctx, url, w, limit)
}

// TestMostAside has as many attempts wait for servers as may be, and then one whose server needs an hour. It gives its slot to the first that is ready.
func TestMostAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		f.Config().Fetcher = fetchFunc(func(ctx context.Context, url string, w io.Writer, limit int64) error {
			switch {
			case strings.Contains(url, "later"):
				time.Sleep(4 * time.Minute)
			case strings.Contains(url, "endless"):
				time.Sleep(time.Hour)
			}
			return web{}.Fetch(ctx, url, w, limit)
		})
		first := ""
		for n := range 64 {
			f.caller = lipsync.Caller{Account: fmt.Sprint(n / 4)}
			if id := f.request(t, "later", "audio"); n == 0 {
				first = id
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx, 1, nil) }()
		time.Sleep(150 * time.Second) // each of the 64 has kept its slot for 2 s
		f.caller = lipsync.Caller{Account: "other"}
		f.request(t, "endless", "audio")
		time.Sleep(2 * time.Minute)
		f.caller = lipsync.Caller{Account: "0"}
		if r := f.get(t, first); r.Status != lipsync.Completed {
			t.Errorf("the first that was ready is %s", r.Status)
		}
		stop()
		<-done
	})
}

// TestFailedFetch fails to fetch while another request is worked on for an hour. The failure is told at once.
func TestFailedFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, j render.Job) error {
			time.Sleep(time.Hour)
			return concatenate(ctx, j)
		})
		f.Config().Fetcher = fetchFunc(func(ctx context.Context, url string, w io.Writer, limit int64) error {
			if strings.Contains(url, "missing") {
				time.Sleep(time.Minute)
				return &failure.Error{Code: failure.NotFound}
			}
			return web{}.Fetch(ctx, url, w, limit)
		})
		id := f.request(t, "missing", "audio")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx, 1, nil) }()
		time.Sleep(10 * time.Second)
		f.request(t, "video", "audio")
		time.Sleep(time.Minute)
		if r := f.get(t, id); r.Status != lipsync.Failed {
			t.Errorf("after the fetch failed, the request is %s", r.Status)
		}
		stop()
		<-done
	})
}

// TestClaimed is told of a claim before the media of the request are fetched.
func TestClaimed(t *testing.T) {
	f, claimed := setup(t, concatenate), 0
	f.Config().Claimed = func() { claimed++ }
	f.Config().Fetcher = fetchFunc(func(ctx context.Context, url string, w io.Writer, limit int64) error {
		if claimed != 1 {
			t.Errorf("fetches after %d calls, want 1", claimed)
		}
		return web{}.Fetch(ctx, url, w, limit)
	})
	f.request(t, "v", "a")
	if !f.Do(t.Context(), "") || claimed != 1 {
		t.Errorf("got %d calls, want one for the request", claimed)
	}
}
