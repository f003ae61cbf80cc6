package batch_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"lipsync/internal/awstest"
	"lipsync/internal/awstest/fakebatch"
	"lipsync/internal/batch"
	"lipsync/internal/lipsync"
)

// fixture is a pool on a fake of Batch that runs a shell script as each worker.
type fixture struct {
	pool lipsync.Pool
	fake *fakebatch.Fake
	dir  string // the script's $DIR
}

func newFixture(t *testing.T, limit int, script string) *fixture {
	t.Helper()
	h := &fixture{dir: t.TempDir()}
	h.fake = fakebatch.New(fakebatch.Options{
		Command: []string{"/bin/sh", "-c", script}, Env: []string{"DIR=" + h.dir, "PATH=" + os.Getenv("PATH")}, Limit: limit, Attempts: 1,
	})
	t.Cleanup(h.fake.Close)
	server := httptest.NewServer(h.fake)
	t.Cleanup(server.Close)
	cfg := awstest.Config(server.URL)
	cfg.Retryer = func() aws.Retryer { // the usual retryer, with shorter pauses
		return retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond)
	}
	h.pool = batch.New(cfg, "queue", "definition")
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *fixture) want(t *testing.T, when string, waiting, running int) {
	t.Helper()
	w, r, err := h.pool.Count(t.Context())
	must(t, err)
	if w != waiting || r != running {
		t.Errorf("%s: got %d that wait and %d that run, want %d and %d", when, w, r, waiting, running)
	}
}

// await waits until the pool's count is the one wanted.
func (h *fixture) await(t *testing.T, when string, waiting, running int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if w, r, err := h.pool.Count(t.Context()); err == nil && w == waiting && r == running {
			return
		}
	}
	h.want(t, when, waiting, running)
}

// TestCount counts workers that were started one by one and in arrays while some run, while some
// wait, and after all have ended.
func TestCount(t *testing.T) {
	// Of each array, the first job succeeds once it may, the second fails, and the third keeps
	// running.
	h := newFixture(t, 3, `n=${AWS_BATCH_JOB_ID##*:}; while [ ! -e "$DIR/go" ] && [ ! -e "$DIR/$n" ]; do sleep 0.01; done; exit $n`)
	h.want(t, "at first", 0, 0)
	for _, n := range []int{1, 2, 1, 3} {
		must(t, h.pool.Start(t.Context(), n))
	}
	h.want(t, "started", 4, 3)
	h.fake.SetLimit(5)
	h.want(t, "below the limit", 2, 5)
	h.fake.SetLimit(0) // no other starts
	must(t, os.WriteFile(filepath.Join(h.dir, "0"), nil, 0o600))
	h.await(t, "after the first job of each array ended", 2, 3)
	h.fake.SetLimit(5)
	h.want(t, "with a limit for all", 0, 5)
	must(t, os.WriteFile(filepath.Join(h.dir, "1"), nil, 0o600))
	h.await(t, "after the second job of each array ended", 0, 3)
	must(t, os.WriteFile(filepath.Join(h.dir, "go"), nil, 0o600))
	for deadline := time.Now().Add(30 * time.Second); !h.fake.Idle() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	h.want(t, "after all ended", 0, 0)
}

// TestStart starts more jobs than one call can, in as few calls as possible.
func TestStart(t *testing.T) {
	for n, calls := range map[int]int{1: 1, 2: 1, 10_000: 1, 10_001: 2, 25_000: 3} {
		h := newFixture(t, 0, "exit 0")
		must(t, h.pool.Start(t.Context(), n))
		if got := h.fake.Started(); got != n {
			t.Errorf("%d: got %d jobs", n, got)
		}
		if got := h.fake.Submits(); got != calls {
			t.Errorf("%d: got %d calls, want %d", n, got, calls)
		}
		h.want(t, "started", n, 0)
	}
}

func TestFails(t *testing.T) {
	h := newFixture(t, 1, "exit 0")
	h.fake.SetFaults(fakebatch.Faults{NoSubmit: true})
	if err := h.pool.Start(t.Context(), 1); err == nil {
		t.Error("start succeeded although Batch refused it")
	}
	h.fake.SetFaults(fakebatch.Faults{Throttled: 100})
	if err := h.pool.Start(t.Context(), 2); err == nil {
		t.Error("start succeeded although Batch throttled it")
	}
	if _, _, err := h.pool.Count(t.Context()); err == nil {
		t.Error("count succeeded although Batch throttled it")
	}
	h.fake.SetFaults(fakebatch.Faults{Throttled: 2}) // the SDK tries three times
	must(t, h.pool.Start(t.Context(), 1))
	if got := h.fake.Started(); got != 1 {
		t.Errorf("got %d jobs, want 1", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.pool.Start(ctx, 1); err == nil {
		t.Error("start succeeded although it was canceled")
	}
}
