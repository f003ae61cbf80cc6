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

	"lipsync/internal/awstest"
)

const (
	coldCalls = 9  // of each function
	warmCalls = 40 // of each
)

// BenchmarkCalls measures the first call of a function's process and later ones,
// as ratios to those of a function that says hello world. All take turns, so that
// what else the machine does falls on all alike.
func BenchmarkCalls(b *testing.B) {
	h := deployed(b, awstest.Shared(b))
	token, _, err := h.service().CreateKey(b.Context(), rand.Text(), "bench", 0)
	if err != nil {
		b.Fatal(err)
	}
	h.freeRates(b)
	functions := []*function{h.hello(b)}
	for _, name := range []string{
		"health", "me", "generate", "generate-with-media", "get-request", "list-requests", "create-upload",
		"dispatch", "job-state", "sweep",
	} {
		event := string(read(b, filepath.Join("..", "..", "events", name+".json")))
		event = strings.ReplaceAll(event, "lipsync_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", token)
		functions = append(functions, &function{name: name, deployed: h.function(b, logicalName(name)), event: event})
	}
	client := lambda.NewFromConfig(h.config)
	for b.Loop() {
		for range coldCalls {
			for _, f := range functions {
				f.forget(b, client)
				f.cold = append(f.cold, f.call(b, client))
			}
		}
		for range warmCalls {
			for _, f := range functions {
				f.warm = append(f.warm, f.call(b, client))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	hello := functions[0]
	for _, f := range functions {
		cold, warm := median(f.cold), median(f.warm)
		// Not by the log, of which a benchmark shows ten lines.
		fmt.Printf("%-20s cold %4d ms, %4.2f × hello; warm %3d ms, %4.2f ×\n", f.name,
			cold.Milliseconds(), float64(cold)/float64(median(hello.cold)),
			warm.Milliseconds(), float64(warm)/float64(median(hello.warm)))
	}
}

// function is one function that is measured.
type function struct {
	name, deployed, event string
	cold, warm            []time.Duration
}

// forget has the next call start a new process, as a change of the function does.
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
	started := time.Now()
	out, err := client.Invoke(b.Context(), &lambda.InvokeInput{FunctionName: &f.deployed, Payload: []byte(f.event)})
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

// logicalName is how a function is called in the template: GetRequest.
func logicalName(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// hello deploys the function that says hello world, with the role and the memory
// of another.
func (h *testHome) hello(b *testing.B) *function {
	b.Helper()
	dir := b.TempDir()
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", "lambda.norpc",
		"-o", filepath.Join(dir, "bootstrap"), "./testdata/hello")
	if err := run(c, "", "CGO_ENABLED=0"); err != nil {
		b.Fatal(err)
	}
	code, err := file{Path: dir, Zip: true}.content()
	if err != nil {
		b.Fatal(err)
	}
	client := lambda.NewFromConfig(h.config)
	me, err := client.GetFunctionConfiguration(b.Context(), &lambda.GetFunctionConfigurationInput{
		FunctionName: aws.String(h.function(b, "Me")),
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
	return &function{name: "hello world", deployed: name, event: string(read(b, filepath.Join("..", "..", "events", "health.json")))}
}

// freeRates lets keys make as many calls as they like, until the end.
func (h *testHome) freeRates(b *testing.B) {
	b.Helper()
	const many = "1000000"
	for function, rate := range map[string]string{
		"Generate": "LIPSYNC_GENERATE_RATE", "GenerateWithMedia": "LIPSYNC_GENERATE_RATE",
		"Me": "LIPSYNC_READ_RATE", "GetRequest": "LIPSYNC_READ_RATE", "ListRequests": "LIPSYNC_READ_RATE",
		"CreateUpload": "LIPSYNC_READ_RATE",
	} {
		h.setVariable(b, function, rate, many)
	}
}
