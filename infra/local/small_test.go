package main

import (
	"crypto/rand"
	"os"
	"slices"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/awstest"
)

// TestSmall runs steps of make aws-smoke: the function does a small request, for which no job starts, and gives a large one back, which a job does. A
// job does a neural one too, which the function never gets.
func TestSmall(t *testing.T) {
	d := newDeploymentWith(t, awstest.Own(t), "", 2)
	t.Cleanup(d.close)
	s := d.smoked(t)
	s.Draw(t)
	stepOf(t, "job").Try(t, s)
	if n := d.Batch.Started(); n > 0 {
		t.Errorf("%d jobs started for a small request, want none", n)
	}
	stepOf(t, "pools").Try(t, s)
	if _, failed := d.Small.Counts(); failed > 0 {
		said, _ := os.ReadFile(d.log)
		t.Errorf("%d small workers failed:\n%s", failed, said[max(0, len(said)-8000):])
	}
	if n := d.Batch.Started(); n != 1 {
		t.Errorf("%d jobs started, want one, for the large request", n)
	}

	var last []string // of the environment: the folders of a host
	for range 2 {
		env, err := d.smallEnvironment(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		folders := env[len(env)-2:]
		if slices.Equal(folders, last) {
			t.Errorf("two small workers have %q", folders)
		}
		last = folders
	}

	neural := job{testDeployment: d, account: rand.Text()}
	var err error
	if neural.token, _, err = d.service.CreateKey(t.Context(), neural.account, "neural", 1); err != nil {
		t.Fatal(err)
	}
	neural = neural.generate(t, "wav2lip", "http://127.0.0.1:1/v.mp4", "http://127.0.0.1:1/a.wav")
	await(t, "the neural request to be begun", func() bool { return len(d.begun(t, neural)) > 0 })
	if class, begun := neural.record(t).Class, d.begun(t, neural); class != lipsync.Neural || slices.Contains(begun, "function") {
		t.Errorf("got the class %q, begun by %q, want a neural one that a job does", class, begun)
	}
}
