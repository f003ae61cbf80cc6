package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/awstest/fakebatch"
)

// faulty returns the deployment that tests share, with nothing left to do. At the end of the
// test it stops making faults.
func faulty(t *testing.T) *testDeployment {
	t.Helper()
	return faultyOn(t, awstest.Enforcing(t))
}

// faultyOn is like faulty, on any emulator.
func faultyOn(t *testing.T, e *awstest.Emulator) *testDeployment {
	t.Helper()
	d := deployed(t, e)
	d.quiet(t)
	t.Cleanup(func() {
		d.between.set(nil)
		d.Batch.SetFaults(fakebatch.Faults{})
	})
	return d
}

// TestJob runs a job without faults.
func TestJob(t *testing.T) {
	j := faulty(t).newJob(t)
	j.settle(t)
	j.want(t)
}

// TestQueueFails loses the message of a stored request.
func TestQueueFails(t *testing.T) {
	d := faulty(t)
	d.setVariable(t, "GenerateWithMedia", "LIPSYNC_QUEUE_URL", d.Outputs["QueueUrl"]+"-gone")
	j := d.newJob(t)
	j.settle(t)
	j.want(t)
}

// TestMessagesAgain sends the messages of two requests three more times, in reverse order.
func TestMessagesAgain(t *testing.T) {
	d := faulty(t)
	jobs := []job{d.newJob(t), d.newJob(t)}
	client := sqs.NewFromConfig(d.config)
	for range 3 {
		for i := range jobs {
			_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
				QueueUrl: aws.String(d.Outputs["QueueUrl"]), MessageBody: &jobs[len(jobs)-1-i].id,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, j := range jobs {
		j.settle(t)
		j.want(t)
		if r := j.record(t); r.Claims != 1 {
			t.Errorf("got %d claims, want 1", r.Claims)
		}
	}
}

// TestSubmitFails makes SubmitJob fail when the message comes.
func TestSubmitFails(t *testing.T) {
	d := faulty(t)
	before := d.Batch.Refused()
	d.Batch.SetFaults(fakebatch.Faults{NoSubmit: true})
	j := d.newJob(t)
	await(t, "a submit to be refused", func() bool { return d.Batch.Refused() > before })
	d.Batch.SetFaults(fakebatch.Faults{})
	j.settle(t)
	j.want(t)
}

// killPoints returns the points of a job at which the runner is killed. Each is the first call for
// which is reports true: either before the emulator gets the call, or after it has done it, so that
// the runner dies without the answer.
func killPoints() []struct {
	name  string
	after bool
	is    func(operation string) bool
} {
	return []struct {
		name  string
		after bool
		is    func(operation string) bool
	}{
		{"before the claim", false, func(string) bool { return true }},
		{"after the claim", true, func(o string) bool { return o == "broker claim" }},
		{"before the output is stored", false, isOutput},
		{"after the output is stored", true, isOutput},
		{"after the request is final", true, func(o string) bool { return o == "broker finish" }},
	}
}

func isOutput(operation string) bool {
	return strings.HasPrefix(operation, "PUT ") && strings.Contains(operation, "/outputs/") && !strings.Contains(operation, ".jpg")
}

// TestKill kills the runner at each point, and while it renders. Then the next runner waits until the scaling lock ends by itself.
func TestKill(t *testing.T) {
	d := faulty(t)
	for _, p := range killPoints() {
		t.Run(p.name, func(t *testing.T) {
			j := d.killAt(t, p.after, p.is)
			j.settle(t)
			j.want(t)
		})
	}
	t.Run("in the middle", func(t *testing.T) {
		d.quiet(t)
		d.clean(t)
		j := d.newJobOf(t, fixtures.long)
		await(t, "the output to grow", d.renders)
		d.kill(t)
		j.settle(t)
		j.want(t)
	})
}

// killAt starts a job, and kills its runner at a point.
func (d *testDeployment) killAt(t *testing.T, after bool, is func(operation string) bool) job {
	t.Helper()
	d.quiet(t)
	var mu sync.Mutex
	killed := false
	made, dead := make(chan struct{}), make(chan struct{})
	d.between.set(func(operation string, w http.ResponseWriter, _ *http.Request, pass func(http.ResponseWriter)) {
		mu.Lock()
		now := !killed && is(operation)
		killed = killed || now
		mu.Unlock()
		if !now {
			pass(w)
			return
		}
		if after {
			pass(httptest.NewRecorder())
		}
		select {
		case <-made:
			d.kill(t)
			close(dead)
		case <-t.Context().Done(): // there is no job
		}
		drop()
	})
	j := d.newJob(t)
	close(made)
	select {
	case <-dead:
		d.unlockScaling(t)
	case <-time.After(patience):
		t.Fatal("the runner never reached the point")
	}
	return j
}

// kill kills the runner.
func (d *testDeployment) kill(t *testing.T) {
	for _, id := range d.Batch.Running() {
		if err := d.Batch.Signal(id, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// renders reports whether a runner has begun to write an output.
func (d *testDeployment) renders() bool {
	parts, err := filepath.Glob(filepath.Join(d.scratch, "runner-*", "request-*", "*.part"))
	if err != nil || len(parts) == 0 {
		return false
	}
	info, err := os.Stat(parts[0])
	return err == nil && info.Size() > 0
}

// clean deletes the files that killed runners left. On AWS they disappear with the containers.
func (d *testDeployment) clean(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(d.scratch, "runner-*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOutputFails breaks the connection in the middle of the upload of the output, each time that
// the runner sends it in one attempt.
func TestOutputFails(t *testing.T) {
	d := faulty(t)
	var cut atomic.Int32
	d.between.set(func(operation string, w http.ResponseWriter, r *http.Request, pass func(http.ResponseWriter)) {
		if !isOutput(operation) {
			pass(w)
			return
		}
		cut.Add(1)
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		drop()
	})
	j := d.newJob(t)
	await(t, "the attempt to fail", func() bool { return cut.Load() > 0 && d.Batch.Idle() })
	d.between.set(nil)
	j.settle(t)
	j.want(t)
	if r := j.record(t); r.Claims < 2 {
		t.Errorf("got %d claims, want one for the attempt that failed", r.Claims)
	}
}

// TestThrottled refuses each call of DynamoDB twice.
func TestThrottled(t *testing.T) {
	d := faulty(t)
	for _, name := range []string{"GenerateWithMedia", "Dispatch", "Sweep", "Broker"} {
		d.setVariable(t, name, "AWS_ENDPOINT_URL_DYNAMODB", d.between.URL)
	}
	var refused atomic.Int32
	d.between.set(func(operation string, w http.ResponseWriter, r *http.Request, pass func(http.ResponseWriter)) {
		try, _, _ := strings.Cut(r.Header.Get("Amz-Sdk-Request"), ";")
		if strings.Contains(operation, " ") || try != "attempt=1" && try != "attempt=2" {
			pass(w)
			return
		}
		refused.Add(1)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}`)
	})
	j := d.newJob(t)
	j.settle(t)
	j.want(t)
	if refused.Load() < 5 {
		t.Errorf("got %d calls refused, want more", refused.Load())
	}
}

// setVariable changes the environment of a function until the end of the test.
func (d *testDeployment) setVariable(t testing.TB, function, variable, value string) {
	t.Helper()
	client := lambda.NewFromConfig(d.config)
	name := aws.String(d.function(t, function))
	now, err := client.GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{FunctionName: name})
	if err != nil {
		t.Fatal(err)
	}
	set := func(variables map[string]string) {
		_, err := client.UpdateFunctionConfiguration(context.WithoutCancel(t.Context()), &lambda.UpdateFunctionConfigurationInput{
			FunctionName: name, Environment: &lambdatypes.Environment{Variables: variables},
		})
		if err != nil {
			t.Error(err)
		}
	}
	changed := maps.Clone(now.Environment.Variables)
	changed[variable] = value
	set(changed)
	t.Cleanup(func() { set(now.Environment.Variables) })
}
