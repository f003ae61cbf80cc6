package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/render"
)

// TestSpeed notes how long renders took, except those whose work was done in part before, or in part twice.
func TestSpeed(t *testing.T) {
	for name, c := range map[string]struct {
		result render.Result
		noted  int64
	}{
		"whole":              {noted: 1},
		"with findings":      {result: render.Result{Reused: render.Reused{Findings: true}}},
		"after a failed try": {result: render.Result{Again: true}},
		"after pieces":       {result: render.Result{Reused: render.Reused{Frames: 1}}},
	} {
		f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
			return c.result, concatenate(ctx, j)
		})
		f.Do(t.Context(), f.request(t, "video", "audio"))
		speeds, err := f.Service.Store.Speeds.All(t.Context())
		if got := speeds[lipsync.EngineClass{Engine: "warp"}].Requests; err != nil || got != c.noted {
			t.Errorf("%s: noted %d requests (%v), want %d", name, got, err, c.noted)
		}
	}
}

// TestETA has 20 requests of two accounts in a queue, whose times differ by up to 30 % from their mean. At each
// moment the expected end of each request that waits must be right within a factor of 2.
func TestETA(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testETA(t, workers) })
		})
	}
}

func testETA(t *testing.T, workers int) {
	const (
		known, n = 10, 20
		mean     = 30 * time.Second
	)
	dice := rand.New(rand.NewPCG(1, uint64(workers)))
	times := map[string]time.Duration{} // by the content of the video
	f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
		video, err := os.ReadFile(j.Video)
		if err != nil {
			return made, err
		}
		time.Sleep(times[string(video)])
		return render.Result{Size: 1000}, concatenate(ctx, j)
	})
	f.Service.Workers = workers
	other := f.caller
	other.Account = "other"
	callers := []lipsync.Caller{f.caller, f.caller, other}
	owner := map[string]lipsync.Caller{}
	request := func(i int) (id string) {
		f.caller = callers[i%len(callers)]
		video := fmt.Sprint("video ", i)
		times[video] = mean*7/10 + time.Duration(dice.Int64N(int64(mean)*6/10))
		id = f.request(t, video, " audio")
		owner[id] = f.caller
		return id
	}
	for i := range known {
		request(i)
		f.Do(t.Context(), "")
	}
	var ids []string
	for i := range n {
		ids = append(ids, request(i))
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx, workers, nil) }()
	type told struct {
		at   time.Time
		left time.Duration
	}
	expected, ended := map[string][]told{}, map[string]time.Time{}
	for open := n; open > 0; time.Sleep(4 * time.Second) {
		open = 0
		synctest.Wait() // for workers that claim at this moment
		for _, id := range ids {
			r, _, place, err := f.Service.Progress(t.Context(), owner[id], id)
			if err != nil {
				t.Fatal(err)
			}
			if place.Position > 0 {
				expected[id] = append(expected[id], told{time.Now(), place.Left})
			}
			if ended[id] = r.FinishedAt; !r.Status.Final() {
				open++
			}
		}
	}
	stop()
	<-done
	checked, worst := 0, 1.0
	for _, id := range ids {
		for _, e := range expected[id] {
			took := ended[id].Sub(e.at)
			ratio := e.left.Seconds() / took.Seconds()
			if ratio < .5 || ratio > 2 {
				t.Errorf("%s: told %s, and it took %s", id, e.left, took)
			}
			worst, checked = max(worst, ratio, 1/ratio), checked+1
		}
	}
	if checked < n {
		t.Errorf("only %d expectations were told", checked)
	}
	t.Logf("%d expectations, wrong by a factor of %.2f at most", checked, worst)
}
