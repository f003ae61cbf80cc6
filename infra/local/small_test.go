package main

import (
	"crypto/rand"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/awstest"
)

// TestSmall has a small worker do a small request, and a job one for a network, which is large. Neither pool does that of the other.
func TestSmall(t *testing.T) {
	d := newDeploymentWith(t, awstest.Own(t), "", 2)
	t.Cleanup(d.close)
	began := time.Now()
	small := d.newJob(t)
	await(t, "the small request to be done", func() bool { return small.record(t).Status.Final() })
	took := time.Since(began)
	small.want(t)
	if jobs := d.Batch.Started(); jobs > 0 {
		t.Errorf("%d jobs started for a small request, want none", jobs)
	}
	await(t, "the small worker to end", func() bool { running, _ := d.Small.Counts(); return running == 0 })
	if _, failed := d.Small.Counts(); failed > 0 {
		t.Errorf("%d small workers failed", failed)
	}

	began = time.Now()
	large := job{testDeployment: d, account: rand.Text()}
	var err error
	if large.token, _, err = d.service.CreateKey(t.Context(), large.account, "large", 1); err != nil {
		t.Fatal(err)
	}
	large = large.generate(t, "wav2lip", "http://127.0.0.1:1/v.mp4", "http://127.0.0.1:1/a.wav")
	await(t, "a job for the neural request", func() bool { return large.record(t).Claims > 0 })
	if r := large.record(t); r.Class != lipsync.Neural || d.Batch.Started() == 0 {
		t.Errorf("got the class %q and %d jobs, want a neural one that a job does", r.Class, d.Batch.Started())
	}
	t.Logf("the small request was done after %.1f s; a job had the neural one after %.1f s", took.Seconds(), time.Since(began).Seconds())
}
