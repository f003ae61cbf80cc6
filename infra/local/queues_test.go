package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
	"lipsync/internal/network/catalog"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/onnxtest"
)

// TestJobQueues_long sends requests to a stack with runners that have a GPU. One such runner does those of a network, all at once; a small worker does a
// small one, and finds another one too large, which then a runner without a GPU does. The GPU itself is missing here.
func TestJobQueues_long(t *testing.T) {
	onnxtest.Runtime(t)
	if err := fixtures.make(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b, decided := *fixtures.built, maps.Clone(fixtures.decided)
	maps.Copy(decided, decisions{
		settings.Image.Context(): "cuda", settings.GPUSpotVCPUs.Context(): 4, settings.GPUOnDemandVCPUs.Context(): 0, // one runner with a GPU
		settings.MaxVideo.Context(): 2 * lipsync.MostSmallBytes >> 20,
	})
	if err := b.synth(t.Context(), fixtures.root, filepath.Join(t.TempDir(), "cdk.out"), decided); err != nil {
		t.Fatal(err)
	}
	synthesised := time.Now()
	d := deploy(t, awstest.Own(t), b, 1)
	t.Cleanup(d.close)
	d.Batch.SetLimit(2)
	d.Batch.AddEnv(settings.Providers.Env()+"=cpu", settings.NVIDIAEncode.Env()+"=false")
	d.store(t, catalog.Wav2Lip, onnxtest.Grey())

	host := newSlowHost(t)
	account := job{testDeployment: d, account: rand.Text()}
	deployed := time.Now()
	var err error
	if account.token, _, err = d.service.CreateKey(t.Context(), account.account, "queues", 0); err != nil {
		t.Fatal(err)
	}
	var neural []job
	for range 3 {
		neural = append(neural, account.generate(t, "wav2lip", host.URL+"/video.mp4", host.URL+"/held.wav"))
	}
	await(t, "a runner to fetch the speeches of all requests of the network", func() bool { return host.held.Load() == int32(len(neural)) })
	for _, j := range neural {
		if r := j.record(t); r.Class != lipsync.Neural || r.Status != lipsync.Processing || r.Lease == "" {
			t.Errorf("got %+v, want a neural request that a runner has", r)
		}
	}
	if running := d.Batch.Running(); len(running) != 1 || d.queue(running[0]) != "GPUJobs" {
		t.Errorf("the jobs %q hold %d requests of the network, want one of the queue with GPUs", running, len(neural))
	}
	close(host.release) // a runner waits for no answer longer than worker.StallTime
	small := d.newJob(t)
	await(t, "the small request to be done", func() bool { return small.record(t).Status.Final() })
	large := account.generate(t, "warp", host.URL+"/large.mp4", host.URL+"/speech.wav")
	await(t, "the large request to be done", func() bool { return large.record(t).Status.Final() })
	await(t, "the requests of the network to be done", func() bool {
		return !slices.ContainsFunc(neural, func(j job) bool { return !j.record(t).Status.Final() })
	})
	d.wantWorkers(t, small, "function")
	d.wantWorkers(t, large, "function", "Jobs")
	for _, j := range neural {
		d.wantWorkers(t, j, "GPUJobs")
	}
	t.Logf("after %.0f s for the template and %.0f s for the stack, the requests took %.0f s", synthesised.Sub(began).Seconds(), deployed.Sub(synthesised).Seconds(), time.Since(deployed).Seconds())
}

// slowHost serves media.
type slowHost struct {
	*httptest.Server
	release chan struct{} // until it is closed, the host holds back held.wav
	held    atomic.Int32  // number of clients that wait for it
}

func newSlowHost(t *testing.T) *slowHost {
	h := &slowHost{release: make(chan struct{})}
	var seen atomic.Bool
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/large.mp4" && !seen.Swap(true): // to a small worker; a large file would take its time
			w.Header().Set("Content-Length", strconv.Itoa(lipsync.MostSmallBytes+1))
			w.WriteHeader(http.StatusOK)
		case strings.HasSuffix(path, ".mp4"):
			http.ServeFile(w, r, fixtures.video)
		case path == "/held.wav":
			h.held.Add(1)
			defer h.held.Add(-1)
			select {
			case <-h.release:
			case <-r.Context().Done():
			}
			fallthrough
		default:
			http.ServeFile(w, r, fixtures.speech)
		}
	}))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h
}

// generate makes a request of the account with media at URLs.
func (j job) generate(t *testing.T, engine, video, audio string) job {
	t.Helper()
	var made struct {
		ID string `json:"request_id"`
	}
	j.call(t, http.MethodPost, "/v1/lipsync/generate", "application/json", strings.NewReader(fmt.Sprintf(
		`{"model":%q,"inputs":[{"type":"video","url":%q},{"type":"audio","url":%q}]}`, engine, video, audio)), &made)
	j.id = made.ID
	return j
}

// queue returns the name of the queue of a job, as the stack's code has it.
func (d *testDeployment) queue(job string) string {
	return hashed.ReplaceAllString(d.Batch.Queue(job), "")
}

// wantWorkers checks that a request is completed, and that it was begun where names say, in their order: the function of small requests, or job queues.
func (d *testDeployment) wantWorkers(t *testing.T, j job, names ...string) {
	t.Helper()
	if r := j.record(t); r.Status != lipsync.Completed {
		t.Errorf("got %+v, want it completed", r)
	}
	if got := d.begun(t, j); !slices.Equal(got, names) {
		t.Errorf("the %s request %s was begun by %q, want %q", j.record(t).Class, j.id, got, names)
	}
}

// begun returns where a request was begun.
func (d *testDeployment) begun(t *testing.T, j job) (got []string) {
	t.Helper()
	for text := range bytes.Lines(read(t, d.log)) {
		var line struct{ Msg, Request, Job string }
		if json.Unmarshal(text, &line) != nil || line.Msg != "started" || line.Request != j.id {
			continue // some lines are no JSON
		}
		if line.Job == "" {
			got = append(got, "function")
		} else {
			got = append(got, d.queue(line.Job))
		}
	}
	return got
}
