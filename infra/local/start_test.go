package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const starts = 31 // of each function

// BenchmarkStarts measures the time from the start of a function's process to its first answer,
// relative to a function that prints hello world. In place of AWS, a server answers each call at
// once with nothing, so that only the function itself is measured. The functions take turns.
func BenchmarkStarts(b *testing.B) {
	if err := fixtures.make(); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	hello := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", "netgo,osusergo,lambda.norpc", "-o", filepath.Join(dir, "hello", "bootstrap"), "./testdata/hello")
	if err := run(hello, "", "CGO_ENABLED=0"); err != nil {
		b.Fatal(err)
	}
	r := newRuntime(b)
	all := []*function{{name: "health", deployed: filepath.Join(dir, "hello", "bootstrap")}}
	for _, name := range clientFunctions() {
		all = append(all, &function{name: name, deployed: filepath.Join(fixtures.dir, "built", "functions", name, "bootstrap")})
	}
	for b.Loop() {
		for range starts {
			for _, f := range all {
				f.cold = append(f.cold, r.start(b, f.deployed, sampleEvent(b, f.name)))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	least := median(all[0].cold)
	for i, f := range all {
		if i == 0 {
			f.name = "hello world"
		}
		took := median(f.cold)
		fmt.Printf("%-20s starts in %5.1f ms, %4.2f × hello\n", f.name, float64(took.Microseconds())/1000, float64(took)/float64(least))
	}
}

// lambdaRuntime is a server in place of Lambda's runtime API and all of AWS.
type lambdaRuntime struct {
	*httptest.Server
	answered chan struct{}
	started  int
	events   sync.Map // of processes, by their numbers: []byte
}

func newRuntime(b *testing.B) *lambdaRuntime {
	r := &lambdaRuntime{answered: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{process}/2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, q *http.Request) {
		event, first := r.events.LoadAndDelete(q.PathValue("process"))
		if !first {
			<-q.Context().Done() // it is killed
			return
		}
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "1")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
		_, _ = w.Write(event.([]byte))
	})
	mux.HandleFunc("POST /{process}/2018-06-01/runtime/", func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		w.WriteHeader(http.StatusAccepted)
		r.answered <- struct{}{}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{"SecretString":"`+strings.Repeat("x", 64)+`"}`)
	})
	r.Server = httptest.NewServer(mux)
	b.Cleanup(r.CloseClientConnections)
	return r
}

// start starts a program, and returns the time until it has answered its first event.
func (r *lambdaRuntime) start(b *testing.B, program string, event []byte) time.Duration {
	b.Helper()
	r.started++
	process := fmt.Sprint(r.started)
	r.events.Store(process, event)
	c := exec.Command(program)
	c.Env = []string{
		"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(r.URL, "http://") + "/" + process, "AWS_LAMBDA_FUNCTION_NAME=f", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_REGION=us-east-1", "AWS_ENDPOINT_URL=" + r.URL, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret",
		"LIPSYNC_NAME=Trial", "LIPSYNC_TABLE=t", "LIPSYNC_BUCKET=b", "LIPSYNC_QUEUE_URL=" + r.URL, "LIPSYNC_GENERATE_RATE=60", "LIPSYNC_READ_RATE=600",
		"LIPSYNC_ENGINES=warp", "LIPSYNC_CORS_ORIGINS=*", "LIPSYNC_MAX_VIDEO=1", "LIPSYNC_MAX_AUDIO=1", "LIPSYNC_MAX_OPEN_REQUESTS=1",
		"LIPSYNC_MAX_STORED=1", "LIPSYNC_MAX_KEYS=1", "LIPSYNC_KEEP_INPUTS=1h", "LIPSYNC_KEEP_OUTPUTS=1h", "LIPSYNC_KEEP_RECORDS=24h", "LIPSYNC_ISSUER=" + r.URL,
		"LIPSYNC_CLIENT_ID=c", "LIPSYNC_SIGN_OUT_URL=" + r.URL, "LIPSYNC_SECRET_ARN=s", "LIPSYNC_PUBLIC_URL=" + r.URL,
	}
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	started := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	select {
	case <-r.answered:
	case <-time.After(time.Minute):
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
		b.Fatalf("%s does not answer: %s", program, said.String())
	}
	took := time.Since(started)
	_ = c.Process.Kill()
	_ = c.Wait() // it was killed
	return took
}
