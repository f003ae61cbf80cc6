package fakebatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/awstest/fakebatch"
	"lipsync/internal/test/check"
)

// fixture is a fake whose jobs run a shell script, with its client.
type fixture struct {
	*fakebatch.Fake
	client *batch.Client
	dir    string // of the jobs, as $DIR
}

func newFixture(t *testing.T, limit int, script string) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir()}
	f.Fake = fakebatch.New(fakebatch.Options{
		Command: []string{"/bin/sh", "-c", script}, Env: []string{"DIR=" + f.dir, "PATH=" + os.Getenv("PATH"), "COLOR=red"},
		Limit: limit, Attempts: 3, Grace: 2 * time.Second, Log: os.Stderr,
		Definitions: map[string][]string{"definition": {"COLOR=blue", "SIZE=large"}, "other": {"SHAPE=round"}},
	})
	t.Cleanup(f.Close)
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.client = batch.NewFromConfig(awstest.Config(server.URL))
	return f
}

func (f *fixture) submit(t *testing.T, name string) (id string) {
	t.Helper()
	out, err := f.client.SubmitJob(t.Context(), &batch.SubmitJobInput{
		JobName: &name, JobQueue: aws.String("queue"), JobDefinition: aws.String("definition"),
	})
	check.Must(t, err)
	return *out.JobId
}

func (f *fixture) describe(t *testing.T, id string) types.JobDetail {
	t.Helper()
	out, err := f.client.DescribeJobs(context.WithoutCancel(t.Context()), &batch.DescribeJobsInput{Jobs: []string{id}})
	check.Must(t, err)
	return out.Jobs[0]
}

// await waits until f reports true.
func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

func (f *fixture) await(t *testing.T, id string, status types.JobStatus) types.JobDetail {
	t.Helper()
	var got types.JobDetail
	await(t, string(status), func() bool { got = f.describe(t, id); return got.Status == status })
	return got
}

func (f *fixture) exists(name string) func() bool {
	return func() bool { _, err := os.Stat(filepath.Join(f.dir, name)); return err == nil }
}

func (f *fixture) touch(t *testing.T, name string) {
	t.Helper()
	check.Must(t, os.WriteFile(filepath.Join(f.dir, name), nil, 0o600))
}

func TestEnvironment(t *testing.T) {
	f := newFixture(t, 1, `env >"$DIR/env"`)
	t.Setenv("OURS", "alone")
	id := f.submit(t, "a")
	f.await(t, id, types.JobStatusSucceeded)
	text, err := os.ReadFile(filepath.Join(f.dir, "env"))
	check.Must(t, err)
	got := strings.Split(string(text), "\n")
	for _, want := range []string{"COLOR=red", "SIZE=large", "AWS_BATCH_JOB_ATTEMPT=1", "AWS_BATCH_JOB_ID=" + id} {
		if !slices.Contains(got, want) {
			t.Errorf("got %q, want %s in it", got, want)
		}
	}
	if slices.Contains(got, "OURS=alone") {
		t.Error("the job has this process's environment")
	}
	if slices.Contains(got, "SHAPE=round") {
		t.Error("the job has the environment of another definition")
	}
	check.Want(t, "queue", f.Queue(id), "queue")
}

// TestExits ends jobs in every way.
func TestExits(t *testing.T) {
	for script, want := range map[string]struct {
		status   types.JobStatus
		attempts int
		exit     int32
	}{
		"exit 0":     {types.JobStatusSucceeded, 1, 0},
		"exit 1":     {types.JobStatusFailed, 1, 1},
		"kill -9 $$": {types.JobStatusFailed, 1, 137},
	} {
		f := newFixture(t, 1, script)
		got := f.await(t, f.submit(t, "a"), want.status)
		if len(got.Attempts) != want.attempts || *got.Container.ExitCode != want.exit {
			t.Errorf("%s: got %d attempts and exit status %d, want %d and %d",
				script, len(got.Attempts), *got.Container.ExitCode, want.attempts, want.exit)
		}
	}
}

func TestLimit(t *testing.T) {
	f := newFixture(t, 2, `touch "$DIR/$AWS_BATCH_JOB_ID"; while [ ! -e "$DIR/go" ]; do sleep 0.01; done`)
	a, b, c := f.submit(t, "a"), f.submit(t, "b"), f.submit(t, "c")
	await(t, "two run", func() bool { return f.exists(a)() && f.exists(b)() })
	if got := f.describe(t, c).Status; got != types.JobStatusRunnable {
		t.Errorf("got %s for the third, want RUNNABLE", got)
	}
	if f.Idle() {
		t.Error("Idle reports true while jobs run")
	}
	if got, want := f.Running(), []string{a, b}; !slices.Equal(got, want) {
		t.Errorf("got %q running, want %q", got, want)
	}
	f.SetLimit(3)
	await(t, "the third job runs", f.exists(c))
	f.touch(t, "go")
	for _, id := range []string{a, b, c} {
		f.await(t, id, types.JobStatusSucceeded)
	}
	if !f.Idle() {
		t.Error("Idle reports false after all jobs ended")
	}
}

// TestList has two jobs and an array, some of which run.
func TestList(t *testing.T) {
	f := newFixture(t, 2, `while [ ! -e "$DIR/go" ]; do sleep 0.01; done; [ "$AWS_BATCH_JOB_ID" != "${AWS_BATCH_JOB_ID%:2}" ] && exit 1; exit 0`)
	f.submit(t, "a")
	_, err := f.client.SubmitJob(t.Context(), &batch.SubmitJobInput{
		JobName: aws.String("array"), JobQueue: aws.String("queue"), JobDefinition: aws.String("definition"),
		ArrayProperties: &types.ArrayProperties{Size: aws.Int32(3)},
	})
	check.Must(t, err)
	f.submit(t, "b")
	list := func(status types.JobStatus) string {
		t.Helper()
		var found []string
		in := &batch.ListJobsInput{JobQueue: aws.String("arn:aws:batch:us-east-1:000000000000:job-queue/queue"), JobStatus: status, MaxResults: aws.Int32(1)}
		for pages := batch.NewListJobsPaginator(f.client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(t.Context())
			check.Must(t, err)
			for _, job := range page.JobSummaryList {
				found = append(found, *job.JobName)
				if a := job.ArrayProperties; a != nil {
					found = append(found, fmt.Sprint(*a.Size, a.StatusSummary))
				}
			}
		}
		return strings.Join(found, " ")
	}
	for status, want := range map[types.JobStatus]string{
		types.JobStatusPending: "array 3 map[RUNNABLE:2 RUNNING:1]", types.JobStatusRunnable: "b", types.JobStatusRunning: "a",
	} {
		if got := list(status); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
	f.touch(t, "go")
	await(t, "all end", f.Idle)
	if got := list(types.JobStatusSucceeded); got != "b a" {
		t.Errorf("got %q succeeded, want b and a", got)
	}
	if got := list(types.JobStatusFailed); got != "array 3 map[FAILED:1 SUCCEEDED:2]" {
		t.Errorf("got %q failed, want the array, of whose jobs one failed", got)
	}
}

// TestTerminate ends a waiting job, a job that obeys, and one that does not.
func TestTerminate(t *testing.T) {
	for script, want := range map[string]int32{
		`touch "$DIR/up"; exec sleep 100`:                                    143,
		`trap 'exit 75' TERM; touch "$DIR/up"; while :; do sleep 0.01; done`: 75,
		`trap '' TERM; touch "$DIR/up"; while :; do sleep 0.01; done`:        137,
	} {
		f := newFixture(t, 1, script)
		running, waiting := f.submit(t, "a"), f.submit(t, "b")
		await(t, "it runs", f.exists("up"))
		for _, id := range []string{waiting, running} {
			_, err := f.client.TerminateJob(t.Context(), &batch.TerminateJobInput{JobId: &id, Reason: aws.String("enough")})
			check.Must(t, err)
			if got := f.await(t, id, types.JobStatusFailed); *got.StatusReason != "enough" {
				t.Errorf("%s: got reason %s", script, *got.StatusReason)
			}
		}
		if got := *f.describe(t, running).Container.ExitCode; got != want {
			t.Errorf("%s: got exit status %d, want %d", script, got, want)
		}
	}
}

func TestSignal(t *testing.T) {
	f := newFixture(t, 1, `trap 'exit 0' TERM; touch "$DIR/up"; while :; do sleep 0.01; done`)
	if err := f.Signal("a", syscall.SIGTERM); err == nil {
		t.Error("a job that does not exist got a signal")
	}
	id := f.submit(t, "a")
	await(t, "it runs", f.exists("up"))
	check.Must(t, f.Signal(id, syscall.SIGTERM))
	f.await(t, id, types.JobStatusSucceeded)
}

// TestThreadEnds submits a job from a thread that ends while the job runs. The job must go on.
func TestThreadEnds(t *testing.T) {
	f := newFixture(t, 1, "sleep 0.3")
	submitted := make(chan []byte)
	go func() {
		runtime.LockOSThread() // without unlocking, so the thread ends
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/submitjob", strings.NewReader(`{"jobName":"a","jobQueue":"queue","jobDefinition":"definition"}`)))
		submitted <- w.Body.Bytes()
	}()
	var made struct{ JobID string }
	check.Must(t, json.Unmarshal(<-submitted, &made))
	await(t, "the end of the job", f.Idle)
	if got := f.describe(t, made.JobID); got.Status != types.JobStatusSucceeded {
		t.Errorf("got %+v, want a job that succeeded", got)
	}
}

// TestNothingRemains has jobs that start a child process: one that ends by itself, and one that is
// killed. The child processes must end too.
func TestNothingRemains(t *testing.T) {
	f := newFixture(t, 2, `sleep 1000 & echo $! >"$DIR/me$AWS_BATCH_JOB_ID.pid"; [ -e "$DIR/stay" ] && wait`)
	gone := func(id string) func() bool {
		return func() bool {
			text, err := os.ReadFile(filepath.Join(f.dir, "me"+id+".pid"))
			if err != nil || len(text) == 0 {
				return false
			}
			state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
			return err != nil || strings.Contains(string(state), ") Z ")
		}
	}
	id := f.submit(t, "a")
	f.await(t, id, types.JobStatusFailed) // the job does not wait, since [ fails
	await(t, "its child is gone", gone(id))
	f.touch(t, "stay")
	id = f.submit(t, "b")
	await(t, "it runs", func() bool {
		text, err := os.ReadFile(filepath.Join(f.dir, "me"+id+".pid"))
		return err == nil && len(text) > 0
	})
	f.Close()
	await(t, "its child is gone", gone(id))
}

func TestFaults(t *testing.T) {
	f := newFixture(t, 1, "exit 1")
	f.SetFaults(fakebatch.Faults{Throttled: 2})
	f.await(t, f.submit(t, "a"), types.JobStatusFailed) // the SDK tries again
	f.SetFaults(fakebatch.Faults{NoSubmit: true})
	_, err := f.client.SubmitJob(t.Context(), &batch.SubmitJobInput{
		JobName: aws.String("b"), JobQueue: aws.String("queue"), JobDefinition: aws.String("definition"),
	}, func(o *batch.Options) { o.RetryMaxAttempts = 1 })
	if err == nil || f.Refused() != 1 {
		t.Errorf("got error %v and %d submits refused, want one", err, f.Refused())
	}
}

func TestCannotStart(t *testing.T) {
	f := fakebatch.New(fakebatch.Options{Command: []string{"/no/such/program"}, Limit: 1, Attempts: 3})
	defer f.Close()
	server := httptest.NewServer(f)
	defer server.Close()
	fx := &fixture{Fake: f, client: batch.NewFromConfig(awstest.Config(server.URL))}
	got := fx.await(t, fx.submit(t, "a"), types.JobStatusFailed)
	if len(got.Attempts) != 3 || !strings.Contains(*got.Container.Reason, "CannotStartContainerError") || got.Container.ExitCode != nil || got.StartedAt != nil {
		t.Errorf("got %+v, want three attempts that never ran, and the last one's container", got)
	}
}
