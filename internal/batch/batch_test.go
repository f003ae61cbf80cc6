package batch_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sdk "github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"

	"lipsync/internal/awstest"
	"lipsync/internal/awstest/fakebatch"
	"lipsync/internal/batch"
	"lipsync/internal/lipsync"
)

const (
	one = "0ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
	two = "1ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
)

// home is jobs on a fake that runs a script of the shell for each.
type home struct {
	jobs   lipsync.Jobs
	fake   *fakebatch.Fake
	client *sdk.Client
	events chan []byte
}

func newHome(t *testing.T, script string) *home {
	t.Helper()
	h := &home{events: make(chan []byte, 10)}
	h.fake = fakebatch.New(fakebatch.Options{
		Command: []string{"/bin/sh", "-c", script}, Limit: 1, Attempts: 1,
		Failed: func(event []byte) { h.events <- event },
	})
	t.Cleanup(h.fake.Close)
	server := httptest.NewServer(h.fake)
	t.Cleanup(server.Close)
	cfg := awstest.Config(server.URL)
	cfg.Retryer = func() aws.Retryer { // the usual one, in less time
		return retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond)
	}
	h.client = sdk.NewFromConfig(cfg)
	h.jobs = batch.New(cfg, "queue", "definition")
	return h
}

// named returns the jobs of a request, the newest first.
func (h *home) named(t *testing.T, id string) []types.JobSummary {
	t.Helper()
	out, err := h.client.ListJobs(t.Context(), &sdk.ListJobsInput{
		JobQueue: aws.String("queue"),
		Filters:  []types.KeyValuesPair{{Name: aws.String("JOB_NAME"), Values: []string{"lipsync-" + id}}},
	})
	must(t, err)
	return out.JobSummaryList
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSubmit(t *testing.T) {
	h := newHome(t, `[ "$LIPSYNC_REQUEST" = `+one+` ] && exit 3; exit 4`)
	must(t, h.jobs.Submit(t.Context(), one))
	if event := string(<-h.events); !strings.Contains(event, `"exitCode":3`) {
		t.Errorf("got %s, want the exit status of a job that knew its request", event)
	}
}

// TestSubmitOnce asks for jobs again and again, as the sweep does.
func TestSubmitOnce(t *testing.T) {
	h := newHome(t, "sleep 100") // one runs, and the other waits
	for range 3 {
		for _, id := range []string{one, two} {
			must(t, h.jobs.Submit(t.Context(), id))
		}
	}
	for _, id := range []string{one, two} {
		if got := len(h.named(t, id)); got != 1 {
			t.Errorf("got %d jobs of %s, want 1", got, id)
		}
	}
}

func TestSubmitAgain(t *testing.T) {
	for _, script := range []string{"exit 0", "exit 1"} {
		h := newHome(t, script)
		must(t, h.jobs.Submit(t.Context(), one))
		for ended := false; !ended; time.Sleep(5 * time.Millisecond) {
			status := h.named(t, one)[0].Status
			ended = status == types.JobStatusSucceeded || status == types.JobStatusFailed
		}
		must(t, h.jobs.Submit(t.Context(), one))
		if got := len(h.named(t, one)); got != 2 {
			t.Errorf("%s: got %d jobs, want a second one", script, got)
		}
	}
}

func TestSubmitFails(t *testing.T) {
	h := newHome(t, "exit 0")
	h.fake.SetFaults(fakebatch.Faults{NoSubmit: true})
	if err := h.jobs.Submit(t.Context(), one); err == nil {
		t.Error("a submit succeeded that Batch refused")
	}
	h.fake.SetFaults(fakebatch.Faults{Throttled: 100})
	if err := h.jobs.Submit(t.Context(), one); err == nil {
		t.Error("a submit succeeded that Batch throttled")
	}
	h.fake.SetFaults(fakebatch.Faults{Throttled: 2}) // the SDK tries three times
	must(t, h.jobs.Submit(t.Context(), one))
	if got := len(h.named(t, one)); got != 1 {
		t.Errorf("got %d jobs, want 1", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.jobs.Submit(ctx, two); err == nil {
		t.Error("a submit succeeded that was canceled")
	}
}
