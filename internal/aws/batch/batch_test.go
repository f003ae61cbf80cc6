package batch_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"lipsync/internal/aws/batch"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/awstest/fakebatch"
	"lipsync/internal/test/check"
)

// fixture is a pool on a fake of Batch that runs a shell script as each worker.
type fixture struct {
	pool lipsync.Pool
	fake *fakebatch.Fake
	dir  string // the script's $DIR
}

func newFixture(t *testing.T, limit int, script string) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir()}
	f.fake = fakebatch.New(fakebatch.Options{
		Command: []string{"/bin/sh", "-c", script}, Env: []string{"DIR=" + f.dir, "PATH=" + os.Getenv("PATH")}, Limit: limit, Attempts: 1,
	})
	t.Cleanup(f.fake.Close)
	server := httptest.NewServer(f.fake)
	t.Cleanup(server.Close)
	cfg := awstest.Config(server.URL)
	cfg.Retryer = func() aws.Retryer { // the usual retryer, with shorter pauses
		return retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond)
	}
	f.pool = batch.New(cfg, "queue", "definition")
	return f
}

func (f *fixture) want(t *testing.T, when string, waiting, running int) {
	t.Helper()
	w, r, err := f.pool.Count(t.Context())
	check.Must(t, err)
	if w != waiting || r != running {
		t.Errorf("%s: got %d that wait and %d that run, want %d and %d", when, w, r, waiting, running)
	}
}

// await waits until the pool's count is the one wanted.
func (f *fixture) await(t *testing.T, when string, waiting, running int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if w, r, err := f.pool.Count(t.Context()); err == nil && w == waiting && r == running {
			return
		}
	}
	f.want(t, when, waiting, running)
}

// TestCount counts workers that were started one by one and in arrays while some run, while some
// wait, and after all have ended.
func TestCount(t *testing.T) {
	// Of each array, the first job succeeds once it may, the second fails, and the third keeps
	// running.
	f := newFixture(t, 3, `n=${AWS_BATCH_JOB_ID##*:}; while [ ! -e "$DIR/go" ] && [ ! -e "$DIR/$n" ]; do sleep 0.01; done; exit $n`)
	f.want(t, "at first", 0, 0)
	for _, n := range []int{1, 2, 1, 3} {
		check.Must(t, f.pool.Start(t.Context(), n))
	}
	f.want(t, "started", 4, 3)
	f.fake.SetLimit(5)
	f.want(t, "below the limit", 2, 5)
	f.fake.SetLimit(0) // no other starts
	check.Must(t, os.WriteFile(filepath.Join(f.dir, "0"), nil, 0o600))
	f.await(t, "after the first job of each array ended", 2, 3)
	f.fake.SetLimit(5)
	f.want(t, "with a limit for all", 0, 5)
	check.Must(t, os.WriteFile(filepath.Join(f.dir, "1"), nil, 0o600))
	f.await(t, "after the second job of each array ended", 0, 3)
	check.Must(t, os.WriteFile(filepath.Join(f.dir, "go"), nil, 0o600))
	for deadline := time.Now().Add(30 * time.Second); !f.fake.Idle() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	f.want(t, "after all ended", 0, 0)
}

// TestCountAtOnce has a server that answers the first list of each way only once it was asked for all four. Meanwhile an array moves from SUBMITTED to
// PENDING, and is counted.
func TestCountAtOnce(t *testing.T) {
	var mu sync.Mutex
	asked, all := map[string]bool{}, make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var list struct{ JobStatus string }
		check.Must(t, json.NewDecoder(r.Body).Decode(&list))
		mu.Lock()
		if asked[list.JobStatus] = true; len(asked) == 4 {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Errorf("%s waits for another list", list.JobStatus)
		}
		jobs := "[]"
		if list.JobStatus == "PENDING" {
			jobs = `[{"jobId": "a", "jobName": "runner", "arrayProperties": {"size": 3, "statusSummary": {"RUNNABLE": 2, "RUNNING": 1}}}]`
		}
		_, _ = io.WriteString(w, `{"jobSummaryList": `+jobs+`}`)
	}))
	defer server.Close()
	waiting, running, err := batch.New(awstest.Config(server.URL), "queue", "definition").Count(t.Context())
	check.Must(t, err)
	check.Want(t, "waiting and running", [2]int{waiting, running}, [2]int{2, 1})
	check.Want(t, "listed", len(asked), 5)
}

// TestStart starts more jobs than one call can, in as few calls as possible.
func TestStart(t *testing.T) {
	for n, calls := range map[int]int{1: 1, 2: 1, 10_000: 1, 10_001: 2, 25_000: 3} {
		f := newFixture(t, 0, "exit 0")
		check.Must(t, f.pool.Start(t.Context(), n))
		if got := f.fake.Started(); got != n {
			t.Errorf("%d: got %d jobs", n, got)
		}
		if got := f.fake.Submits(); got != calls {
			t.Errorf("%d: got %d calls, want %d", n, got, calls)
		}
		f.want(t, "started", n, 0)
	}
}

func TestFails(t *testing.T) {
	f := newFixture(t, 1, "exit 0")
	f.fake.SetFaults(fakebatch.Faults{NoSubmit: true})
	if err := f.pool.Start(t.Context(), 1); err == nil {
		t.Error("start succeeded although Batch refused it")
	}
	f.fake.SetFaults(fakebatch.Faults{Throttled: 100})
	if err := f.pool.Start(t.Context(), 2); err == nil {
		t.Error("start succeeded although Batch throttled it")
	}
	if _, _, err := f.pool.Count(t.Context()); err == nil {
		t.Error("count succeeded although Batch throttled it")
	}
	f.fake.SetFaults(fakebatch.Faults{Throttled: 2}) // the SDK tries three times
	check.Must(t, f.pool.Start(t.Context(), 1))
	if got := f.fake.Started(); got != 1 {
		t.Errorf("got %d jobs, want 1", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.pool.Start(ctx, 1); err == nil {
		t.Error("start succeeded although it was canceled")
	}
}
