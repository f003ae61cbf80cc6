package fakebatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"

	"lipsync/internal/awstest"
	"lipsync/internal/awstest/fakebatch"
)

// home is a fake whose jobs run a script of the shell, and its client.
type home struct {
	*fakebatch.Fake
	client *batch.Client
	failed chan []byte // events
	dir    string      // the jobs', as $DIR
}

func newHome(t *testing.T, limit int, script string) *home {
	t.Helper()
	h := &home{failed: make(chan []byte, 10), dir: t.TempDir()}
	h.Fake = fakebatch.New(fakebatch.Options{
		Command: []string{"/bin/sh", "-c", script}, Env: []string{"DIR=" + h.dir, "PATH=" + os.Getenv("PATH"), "COLOR=red"},
		Limit: limit, Attempts: 3, Grace: 2 * time.Second, Log: os.Stderr,
		Failed: func(event []byte) { h.failed <- event },
	})
	t.Cleanup(h.Close)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.client = batch.NewFromConfig(awstest.Config(server.URL))
	return h
}

func (h *home) submit(t *testing.T, name string) (id string) {
	t.Helper()
	out, err := h.client.SubmitJob(t.Context(), &batch.SubmitJobInput{
		JobName: &name, JobQueue: aws.String("queue"), JobDefinition: aws.String("definition"),
		ContainerOverrides: &types.ContainerOverrides{
			Environment: []types.KeyValuePair{{Name: aws.String("FOR"), Value: aws.String("me")}},
		},
	})
	must(t, err)
	return *out.JobId
}

func (h *home) describe(t *testing.T, id string) types.JobDetail {
	t.Helper()
	out, err := h.client.DescribeJobs(context.WithoutCancel(t.Context()), &batch.DescribeJobsInput{Jobs: []string{id}})
	must(t, err)
	return out.Jobs[0]
}

// await waits until f reports true.
func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (h *home) await(t *testing.T, id string, status types.JobStatus) types.JobDetail {
	t.Helper()
	var got types.JobDetail
	await(t, string(status), func() bool { got = h.describe(t, id); return got.Status == status })
	return got
}

func (h *home) exists(name string) func() bool {
	return func() bool { _, err := os.Stat(filepath.Join(h.dir, name)); return err == nil }
}

func (h *home) touch(t *testing.T, name string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(h.dir, name), nil, 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEnvironment(t *testing.T) {
	h := newHome(t, 1, `env >"$DIR/env"`)
	t.Setenv("OURS", "alone")
	id := h.submit(t, "a")
	h.await(t, id, types.JobStatusSucceeded)
	text, err := os.ReadFile(filepath.Join(h.dir, "env"))
	must(t, err)
	got := strings.Split(string(text), "\n")
	for _, want := range []string{"COLOR=red", "FOR=me", "AWS_BATCH_JOB_ATTEMPT=1", "AWS_BATCH_JOB_ID=" + id} {
		if !slices.Contains(got, want) {
			t.Errorf("got %q, want %s in it", got, want)
		}
	}
	if slices.Contains(got, "OURS=alone") {
		t.Error("the job has our environment")
	}
}

// TestExits ends jobs in each way.
func TestExits(t *testing.T) {
	for script, want := range map[string]struct {
		status   types.JobStatus
		attempts int
		exit     int32
	}{
		"exit 0":     {types.JobStatusSucceeded, 1, 0},
		"exit 1":     {types.JobStatusFailed, 1, 1},
		"exit 75":    {types.JobStatusFailed, 3, 75},
		"kill -9 $$": {types.JobStatusFailed, 1, 137},
		"[ $AWS_BATCH_JOB_ATTEMPT = 2 ] || exit 75": {types.JobStatusSucceeded, 2, 0},
	} {
		h := newHome(t, 1, script)
		got := h.await(t, h.submit(t, "a"), want.status)
		if len(got.Attempts) != want.attempts || *got.Container.ExitCode != want.exit {
			t.Errorf("%s: got %d attempts and exit status %d, want %d and %d",
				script, len(got.Attempts), *got.Container.ExitCode, want.attempts, want.exit)
		}
		if want.status == types.JobStatusFailed {
			<-h.failed
		}
		h.Close()
		if len(h.failed) > 0 {
			t.Errorf("%s: got an event too many: %s", script, <-h.failed)
		}
	}
}

func TestEvent(t *testing.T) {
	h := newHome(t, 1, "exit 3")
	id := h.submit(t, "lipsync-x")
	var got events.EventBridgeEvent
	must(t, json.Unmarshal(<-h.failed, &got))
	if got.Source != "aws.batch" || got.DetailType != "Batch Job State Change" || !strings.HasSuffix(got.Resources[0], id) {
		t.Errorf("got %+v", got)
	}
	var detail struct {
		JobName, JobID, JobQueue, Status string
		Container                        struct{ ExitCode int }
	}
	must(t, json.Unmarshal(got.Detail, &detail))
	if detail.JobName != "lipsync-x" || detail.JobID != id || detail.Status != "FAILED" || detail.Container.ExitCode != 3 ||
		detail.JobQueue != "arn:aws:batch:us-east-1:000000000000:job-queue/queue" {
		t.Errorf("got %+v", detail)
	}
}

func TestLimit(t *testing.T) {
	h := newHome(t, 2, `touch "$DIR/$AWS_BATCH_JOB_ID"; while [ ! -e "$DIR/go" ]; do sleep 0.01; done`)
	a, b, c := h.submit(t, "a"), h.submit(t, "b"), h.submit(t, "c")
	await(t, "two run", func() bool { return h.exists(a)() && h.exists(b)() })
	if got := h.describe(t, c).Status; got != types.JobStatusRunnable {
		t.Errorf("got %s for the third, want RUNNABLE", got)
	}
	if h.Idle() {
		t.Error("it is idle while jobs run")
	}
	if got, want := h.Running(), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %q running, want %q", got, want)
	}
	h.SetLimit(3)
	await(t, "the third runs", h.exists(c))
	h.touch(t, "go")
	for _, id := range []string{a, b, c} {
		h.await(t, id, types.JobStatusSucceeded)
	}
	if !h.Idle() {
		t.Error("it is not idle when all jobs ended")
	}
}

func TestList(t *testing.T) {
	h := newHome(t, 5, `sleep 100`)
	for _, name := range []string{"a", "b", "a", "A", "ab"} {
		h.submit(t, name)
	}
	list := func(in *batch.ListJobsInput) (names []string) {
		in.JobQueue = aws.String("arn:aws:batch:us-east-1:000000000000:job-queue/queue")
		for pages := batch.NewListJobsPaginator(h.client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(t.Context())
			must(t, err)
			for _, job := range page.JobSummaryList {
				names = append(names, *job.JobName)
			}
		}
		return names
	}
	byName := []types.KeyValuesPair{{Name: aws.String("JOB_NAME"), Values: []string{"a"}}}
	for _, c := range []struct {
		in   batch.ListJobsInput
		want string
	}{
		{batch.ListJobsInput{}, "ab A a b a"},
		{batch.ListJobsInput{MaxResults: aws.Int32(2)}, "ab A a b a"},
		{batch.ListJobsInput{JobStatus: types.JobStatusFailed}, ""},
		{batch.ListJobsInput{Filters: byName}, "A a a"},
		{batch.ListJobsInput{Filters: byName, MaxResults: aws.Int32(1)}, "A a a"},
	} {
		if got := strings.Join(list(&c.in), " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestTerminate ends jobs that wait, that obey, and that don't.
func TestTerminate(t *testing.T) {
	for script, want := range map[string]int32{
		`touch "$DIR/up"; exec sleep 100`:                                    143,
		`trap 'exit 75' TERM; touch "$DIR/up"; while :; do sleep 0.01; done`: 75,
		`trap '' TERM; touch "$DIR/up"; while :; do sleep 0.01; done`:        137,
	} {
		h := newHome(t, 1, script)
		running, waiting := h.submit(t, "a"), h.submit(t, "b")
		await(t, "it runs", h.exists("up"))
		for _, id := range []string{waiting, running} {
			_, err := h.client.TerminateJob(t.Context(), &batch.TerminateJobInput{JobId: &id, Reason: aws.String("enough")})
			must(t, err)
			if got := h.await(t, id, types.JobStatusFailed); *got.StatusReason != "enough" {
				t.Errorf("%s: got reason %s", script, *got.StatusReason)
			}
		}
		if got := *h.describe(t, running).Container.ExitCode; got != want {
			t.Errorf("%s: got exit status %d, want %d", script, got, want)
		}
	}
}

func TestSignal(t *testing.T) {
	h := newHome(t, 1, `[ $AWS_BATCH_JOB_ATTEMPT = 2 ] && exit; trap 'exit 75' TERM; touch "$DIR/up"; while :; do sleep 0.01; done`)
	if err := h.Signal("a", syscall.SIGTERM); err == nil {
		t.Error("a job that is not there got a signal")
	}
	id := h.submit(t, "a")
	await(t, "it runs", h.exists("up"))
	must(t, h.Signal("a", syscall.SIGTERM))
	if got := h.await(t, id, types.JobStatusSucceeded); len(got.Attempts) != 2 {
		t.Errorf("got %d attempts, want 2", len(got.Attempts))
	}
}

// TestNothingRemains leaves a child behind, in a job that ends and in one that is
// killed at the end.
func TestNothingRemains(t *testing.T) {
	h := newHome(t, 2, `sleep 1000 & echo $! >"$DIR/$FOR$AWS_BATCH_JOB_ID.pid"; [ -e "$DIR/stay" ] && wait`)
	gone := func(id string) func() bool {
		return func() bool {
			text, err := os.ReadFile(filepath.Join(h.dir, "me"+id+".pid"))
			if err != nil || len(text) == 0 {
				return false
			}
			state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
			return err != nil || strings.Contains(string(state), ") Z ")
		}
	}
	id := h.submit(t, "a")
	h.await(t, id, types.JobStatusFailed) // nothing waits: [ fails
	await(t, "its child is gone", gone(id))
	h.touch(t, "stay")
	id = h.submit(t, "b")
	await(t, "it runs", h.exists("me"+id+".pid"))
	h.Close()
	await(t, "its child is gone", gone(id))
}

func TestFaults(t *testing.T) {
	h := newHome(t, 1, "exit 1")
	h.SetFaults(fakebatch.Faults{Throttled: 2})
	h.submit(t, "a") // the SDK tries again
	<-h.failed
	h.SetFaults(fakebatch.Faults{NoSubmit: true})
	_, err := h.client.SubmitJob(t.Context(), &batch.SubmitJobInput{
		JobName: aws.String("b"), JobQueue: aws.String("queue"), JobDefinition: aws.String("definition"),
	}, func(o *batch.Options) { o.RetryMaxAttempts = 1 })
	if err == nil || h.Refused() != 1 {
		t.Errorf("got error %v and %d submits refused, want one", err, h.Refused())
	}
	h.SetFaults(fakebatch.Faults{AgainAfter: []time.Duration{time.Millisecond, 2 * time.Millisecond}})
	h.submit(t, "again")
	first := <-h.failed
	for range 2 {
		if again := <-h.failed; !bytes.Equal(again, first) {
			t.Errorf("got %s, want %s again", again, first)
		}
	}
	h.SetFaults(fakebatch.Faults{LoseEvents: true})
	h.await(t, h.submit(t, "c"), types.JobStatusFailed)
	h.Close()
	if len(h.failed) > 0 {
		t.Errorf("got an event that was to be lost: %s", <-h.failed)
	}
}

func TestCannotStart(t *testing.T) {
	failed := make(chan []byte, 1)
	f := fakebatch.New(fakebatch.Options{
		Command: []string{"/no/such/program"}, Limit: 1, Attempts: 3, Failed: func(event []byte) { failed <- event },
	})
	defer f.Close()
	r := httptest.NewRequest("POST", "/v1/submitjob", strings.NewReader(`{"jobName":"a","jobQueue":"q","jobDefinition":"d"}`))
	f.ServeHTTP(httptest.NewRecorder(), r)
	got := string(<-failed)
	if strings.Count(got, "CannotStartContainerError") != 4 || strings.Contains(got, "exitCode") || strings.Contains(got, "startedAt") {
		t.Errorf("got %s, want three attempts that never ran, and the last one's container", got)
	}
}
