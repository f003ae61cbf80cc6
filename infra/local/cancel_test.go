package main

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/s3"
)

// TestCancel cancels a waiting request, and the one before it while a runner renders it. The runner
// must go on with the next request, and no object or file of the two may be left.
func TestCancel(t *testing.T) {
	d := faulty(t)
	d.clean(t)
	speech := filepath.Join(t.TempDir(), "long.mp3")
	if err := ffmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=90", "-b:a", "32k", speech); err != nil {
		t.Fatal(err)
	}
	running := d.newJobOf(t, speech)
	await(t, "the output to grow", d.renders)
	waiting := d.newJob(t)
	waiting.cancel(t)
	running.cancel(t)
	canceled := time.Now()
	await(t, "the runner to stop", func() bool { return !d.renders() })
	t.Logf("stopped after %v", time.Since(canceled))
	next := d.newJob(t)
	next.settle(t)
	next.want(t)
	d.quiet(t)
	for _, j := range []job{running, waiting} {
		j.invoke(t, "Sweep")
		j.wantCanceled(t)
	}
	if left, err := filepath.Glob(filepath.Join(d.scratch, "runner-*")); err != nil || len(left) > 0 {
		t.Errorf("got %q left (error %v), want nothing", left, err)
	}
}

func (j job) cancel(t *testing.T) {
	t.Helper()
	var r struct {
		Error string `json:"error_message"`
	}
	if j.call(t, http.MethodDelete, "/v1/lipsync/requests/"+j.id, "", http.NoBody, &r); r.Error != "canceled by the client" {
		t.Errorf("got %+v, want it canceled", r)
	}
}

// wantCanceled checks that only the record of a canceled request is left.
func (j job) wantCanceled(t *testing.T) {
	t.Helper()
	if r := j.record(t); r.Status != lipsync.Failed || r.Failure.Code != failure.Canceled || r.Lease != "" {
		t.Errorf("got %+v, want it canceled", r)
	}
	objects, found := s3.New(j.config, j.Outputs["BucketName"], s3.Signer{}), errors.New("the object is left")
	for _, prefix := range []string{"inputs/", "outputs/"} {
		err := objects.List(t.Context(), prefix+j.id+"/", func(string, time.Time) error { return found })
		if err != nil {
			t.Errorf("%s%s: %v", prefix, j.id, err)
		}
	}
}
