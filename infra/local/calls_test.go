package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/rest"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/sharedtest"
)

const (
	coldCalls = 9  // of each function
	warmCalls = 40 // of each function
)

// BenchmarkCalls measures the first call of a function's process and later ones, relative to a
// function that prints hello world. The functions take turns, so that other load on the machine
// affects all alike. Jobs do nothing, and the queue has no reader; otherwise messages would start
// dispatch before it is measured.
func BenchmarkCalls(b *testing.B) {
	e := awstest.Own(b)
	d := newDeployment(b, e, "true")
	b.Cleanup(d.close)
	d.freeRates(b)
	unread := e.Queue(b)
	for _, name := range []string{"Generate", "GenerateWithMedia", "Sweep"} {
		d.setVariable(b, name, "LIPSYNC_QUEUE_URL", unread)
	}
	functions := d.functions(b)
	client := lambda.NewFromConfig(d.config)
	for b.Loop() {
		for range coldCalls {
			for _, f := range functions {
				f.forget(b, client)
				f.cold = append(f.cold, f.call(b, client))
			}
			d.finish(b)
		}
		for range warmCalls {
			for _, f := range functions {
				f.warm = append(f.warm, f.call(b, client))
			}
			d.finish(b)
		}
	}
	b.ReportMetric(0, "ns/op")
	hello := functions[0]
	for _, f := range functions {
		cold, warm := median(f.cold), median(f.warm)
		// The benchmark's log would show only ten lines.
		fmt.Printf("%-20s cold %4d ms, %4.2f × hello; warm %3d ms, %4.2f ×\n", f.name,
			cold.Milliseconds(), float64(cold)/float64(median(hello.cold)),
			warm.Milliseconds(), float64(warm)/float64(median(hello.warm)))
	}
}

// functions returns all functions of the stack, after the one that prints hello world. Their
// events are the samples, with existing keys and requests.
func (d *testDeployment) functions(b *testing.B) []*function {
	b.Helper()
	token, _, err := d.service.CreateKey(b.Context(), rand.Text(), "bench", 0)
	if err != nil {
		b.Fatal(err)
	}
	all := []*function{d.hello(b)}
	for _, name := range append(clientFunctions(), "dispatch", "sweep") {
		event := string(sampleEvent(b, name))
		event = strings.ReplaceAll(event, "lipsync_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", token)
		f := &function{name: name, deployed: d.function(b, logicalName(name)), event: func() string { return event }}
		switch name {
		case "dispatch":
			f.event = d.naming(b, event)
		case "sweep":
			f.event = func() string { d.unlockScaling(b); return event }
		}
		all = append(all, f)
	}
	return all
}

// sampleEvent returns the sample event of a function.
func sampleEvent(b *testing.B, function string) []byte {
	b.Helper()
	return read(b, filepath.Join(sharedtest.Root(b), "events", function+".json"))
}

// clientFunctions has the functions that clients call, by the table of endpoints.
func clientFunctions() []string {
	var names []string
	for _, e := range rest.Endpoints() {
		if !slices.Contains(names, e.Function) {
			names = append(names, e.Function)
		}
	}
	return append(names, "dashboard", "mcp")
}

// naming gives each event the name of a waiting request, for which the function must start a
// runner.
func (d *testDeployment) naming(b *testing.B, event string) func() string {
	const sample = "0b8f8a52-7a5c-4f2e-9d7d-5f1f2f7a9c01"
	started := 0
	return func() string {
		if now := d.Batch.Started(); started > 0 && now == started {
			b.Error("the function started no runner")
		} else {
			started = now
		}
		d.unlockScaling(b)
		return strings.ReplaceAll(event, sample, d.waiting(b).id)
	}
}

// waiting makes a request without a message in the queue.
func (d *testDeployment) waiting(b *testing.B) job {
	b.Helper()
	account := rand.Text()
	_, key, err := d.service.CreateKey(b.Context(), account, "bench", 1)
	if err != nil {
		b.Fatal(err)
	}
	r := lipsync.Request{
		ID: uuid.NewString(), Account: account, KeyID: key.ID, Status: lipsync.Queued, CreatedAt: time.Now(),
		Video: lipsync.Input{URL: "http://192.0.2.1/v.mp4"}, Audio: lipsync.Input{URL: "http://192.0.2.1/a.wav"},
	}
	if _, _, err := d.service.Store.Requests.Create(b.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
		b.Fatal(err)
	}
	return job{testDeployment: d, id: r.ID, account: account}
}

// finish makes all waiting requests final, so that each sweep finds the same number.
func (d *testDeployment) finish(b *testing.B) {
	b.Helper()
	for store := d.service.Store; ; {
		token := rand.Text()
		r, err := store.Leases.Claim(b.Context(), "", token, time.Now(), lipsync.Lease, lipsync.Choice{})
		if failure.CodeOf(err) == failure.NotFound {
			return
		}
		if err == nil {
			err = lipsynctest.Finish(b.Context(), store.Leases, r.ID, token, time.Now(), lipsync.Outcome{Failure: failure.Failure{Code: failure.InternalFault}})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// function is one function that is measured.
type function struct {
	name, deployed string
	event          func() string // of the next call
	cold, warm     []time.Duration
}

// forget makes the next call start a new process, as a change of the function does.
func (f *function) forget(b *testing.B, client *lambda.Client) {
	b.Helper()
	now, err := client.GetFunctionConfiguration(b.Context(), &lambda.GetFunctionConfigurationInput{FunctionName: &f.deployed})
	if err != nil {
		b.Fatal(err)
	}
	_, err = client.UpdateFunctionConfiguration(b.Context(), &lambda.UpdateFunctionConfigurationInput{
		FunctionName: &f.deployed, Timeout: now.Timeout,
	})
	if err != nil {
		b.Fatal(err)
	}
}

func (f *function) call(b *testing.B, client *lambda.Client) time.Duration {
	b.Helper()
	event := []byte(f.event())
	started := time.Now()
	out, err := client.Invoke(b.Context(), &lambda.InvokeInput{FunctionName: &f.deployed, Payload: event})
	if err != nil || out.FunctionError != nil {
		b.Fatalf("%s: %v %+v", f.name, err, out)
	}
	took := time.Since(started)
	var answer struct{ StatusCode int } // of functions behind the gateway
	if err := json.Unmarshal(out.Payload, &answer); err != nil || answer.StatusCode >= 400 {
		b.Fatalf("%s: got %s (error %v)", f.name, out.Payload, err)
	}
	return took
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// logicalName returns a function's name in the template, such as GetRequest.
func logicalName(name string) string {
	if name == "dashboard" {
		return "DashboardPages"
	}
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// hello deploys the function that prints hello world, with the role and the memory of another.
func (d *testDeployment) hello(b *testing.B) *function {
	b.Helper()
	dir := b.TempDir()
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", "netgo,osusergo,lambda.norpc",
		"-o", filepath.Join(dir, "bootstrap"), "./testdata/hello")
	if err := run(c, "", "CGO_ENABLED=0"); err != nil {
		b.Fatal(err)
	}
	code, err := file{Path: dir, Zip: true}.content()
	if err != nil {
		b.Fatal(err)
	}
	client := lambda.NewFromConfig(d.config)
	me, err := client.GetFunctionConfiguration(b.Context(), &lambda.GetFunctionConfigurationInput{
		FunctionName: aws.String(d.function(b, "Me")),
	})
	if err != nil {
		b.Fatal(err)
	}
	const name = "hello-world"
	_, err = client.CreateFunction(b.Context(), &lambda.CreateFunctionInput{
		FunctionName: aws.String(name), Role: me.Role, Code: &types.FunctionCode{ZipFile: code},
		Runtime: types.RuntimeProvidedal2023, Handler: aws.String("bootstrap"), Architectures: me.Architectures,
		MemorySize: me.MemorySize, Timeout: me.Timeout, LoggingConfig: me.LoggingConfig,
		TracingConfig: &types.TracingConfig{Mode: types.TracingModeActive},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_, err := client.DeleteFunction(context.WithoutCancel(b.Context()), &lambda.DeleteFunctionInput{
			FunctionName: aws.String(name),
		})
		if err != nil {
			b.Error(err)
		}
	})
	event := string(sampleEvent(b, "health"))
	return &function{name: "hello world", deployed: name, event: func() string { return event }}
}

// freeRates lifts the rates of keys until the end.
func (d *testDeployment) freeRates(b *testing.B) {
	b.Helper()
	const many = "1000000"
	rates := map[lipsync.CallKind]string{lipsync.GenerateCall: "LIPSYNC_GENERATE_RATE", lipsync.ReadCall: "LIPSYNC_READ_RATE"}
	for _, e := range rest.Endpoints() {
		if e.Calls != "" {
			d.setVariable(b, logicalName(e.Function), rates[e.Calls], many)
		}
	}
}
