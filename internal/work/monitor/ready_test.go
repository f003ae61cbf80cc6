package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ask returns the answer of the checks.
func ask(t *testing.T, r http.Handler) (status int, answer report) {
	t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Errorf("got %q: %v", w.Body, err)
	}
	return w.Code, answer
}

func works(context.Context) error { return nil }

func TestReady(t *testing.T) {
	for name, c := range map[string]struct {
		disk   func(context.Context) error
		status int
		want   result
	}{
		"works":  {works, http.StatusOK, result{OK: true}},
		"broken": {func(context.Context) error { return errors.New("no space left on device") }, http.StatusServiceUnavailable, result{Error: "no space left on device"}},
		"panics": {func(context.Context) error { panic("broken") }, http.StatusServiceUnavailable, result{Error: "the check panicked"}},
		"slow": {func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		}, http.StatusOK, result{OK: true, Seconds: 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			status, got := ask(t, newReadiness([]Check{{"disk", c.disk}, {"store", works}}))
			want := report{c.status == http.StatusOK, map[string]result{"disk": c.want, "store": {OK: true}}}
			if status != c.status || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %d, %+v, want %d, %+v", name, status, got, c.status, want)
			}
		})
	}
}

// TestHungCheck has a check that never ends, as on a disk that does not answer. No caller may wait
// for long, and no second run may begin.
func TestHungCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		disk := make(chan struct{})
		r := newReadiness([]Check{{"disk", func(context.Context) error { runs.Add(1); <-disk; return nil }}})
		for _, c := range []struct {
			pause, wait time.Duration
			want        string
		}{{0, answerTime, "no result after 5s"}, {time.Minute, 0, "no result after 1m5s"}} {
			time.Sleep(c.pause)
			began := time.Now()
			status, got := ask(t, r)
			if status != http.StatusServiceUnavailable || got.Checks["disk"].Error != c.want || time.Since(began) != c.wait {
				t.Errorf("got %d, %+v after %s, want %q after %s", status, got, time.Since(began), c.want, c.wait)
			}
		}
		close(disk)
		synctest.Wait()
		if status, got := ask(t, r); status != http.StatusOK || runs.Load() != 1 {
			t.Errorf("afterwards: got %d, %+v by %d runs, want 200 by 1", status, got, runs.Load())
		}
	})
}

// TestSlowCheck has a check that takes 1 s at first, and then longer than callers wait, as on a
// busy machine, or never ends. The result of the first run must be given for a minute.
func TestSlowCheck(t *testing.T) {
	for name, c := range map[string]struct {
		second time.Duration
		pauses []time.Duration // before each call
		status []int
	}{
		"busy": {20 * time.Second, []time.Duration{0, 10 * time.Second, 10 * time.Second, 10 * time.Second}, []int{200, 200, 200, 200}},
		"hung": {time.Hour, []time.Duration{0, 10 * time.Second, 30 * time.Second, 30 * time.Second}, []int{200, 200, 200, 503}},
	} {
		synctest.Test(t, func(t *testing.T) {
			took := time.Second
			r := newReadiness([]Check{{"ffmpeg", func(ctx context.Context) error {
				defer func() { took = c.second }()
				time.Sleep(took)
				return nil
			}}})
			for i, pause := range c.pauses {
				time.Sleep(pause)
				began := time.Now()
				status, got := ask(t, r)
				if status != c.status[i] || time.Since(began) > answerTime {
					t.Errorf("%s, call %d: got %d, %+v after %s, want %d", name, i+1, status, got, time.Since(began), c.status[i])
				}
			}
			time.Sleep(2 * time.Hour) // until the run ends
		})
	}
}

// TestSharedCheck makes many calls at once, twice. The calls must share runs of the check.
func TestSharedCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		r := newReadiness([]Check{{"ffmpeg", func(context.Context) error { runs.Add(1); time.Sleep(time.Second); return nil }}})
		for _, c := range []struct {
			pause time.Duration
			want  int32
		}{{0, 1}, {holdTime - time.Second, 1}, {2 * time.Second, 2}} {
			time.Sleep(c.pause)
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { ask(t, r) })
			}
			all.Wait()
			if got := runs.Load(); got != c.want {
				t.Errorf("got %d runs, want %d", got, c.want)
			}
		}
	})
}
