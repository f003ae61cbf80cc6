package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/invoke"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/queue"
)

// testFunction is the function of small requests, with the queue that counts its invocations.
type testFunction struct {
	*function
	queue *queue.Queue
}

// newFunction returns the function for the account's requests. Its processes are the test's program: see TestMain.
func newFunction(t *testing.T, a *account, log io.Writer) testFunction {
	t.Helper()
	for name, value := range a.environment {
		t.Setenv(name, value)
	}
	t.Setenv("LIPSYNC_DUTY", string(lipsync.DoesSmall)) // also for its processes
	var j job
	d, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, log, j.read)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := cloud.New(cloud.Config(os.Getenv), a.getenv, io.Discard, cloud.Records)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return testFunction{&function{&j, d, program, log, log}, counts.Table.Queue}
}

// TestRoomToWork checks that a runner's service knows the disk of its scratch folder.
func TestRoomToWork(t *testing.T) {
	s := newFunction(t, newAccount(t), io.Discard).deployment.Service
	if err := s.RoomToWork(1 << 60); failure.CodeOf(err) != failure.NoSpace {
		t.Errorf("got %v for more than any disk has", err)
	}
	if err := s.RoomToWork(1); err != nil {
		t.Error(err)
	}
}

// invoke makes a recorded invocation of the function. It must fail with the reason unable, if that isn't nil.
func (f testFunction) invoke(t *testing.T, unable error, length time.Duration) {
	t.Helper()
	start, err := f.queue.StartSmall(t.Context(), time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	if err := f.handle(ctx, invoke.Event{Start: start}, unable); !errors.Is(err, unable) {
		t.Errorf("got %v, want %v", err, unable)
	}
	if waiting, running, err := f.queue.CountSmall(t.Context(), time.Now()); waiting+running > 0 || err != nil {
		t.Errorf("got %d small workers that wait and %d that run (%v), want none", waiting, running, err)
	}
}

// TestFunction has an invocation of the function do two small requests, each in a process of its own, and leave a large one to runners.
func TestFunction(t *testing.T) {
	a := newAccount(t)
	first, second := a.request(t, noFace(t), sound(t)), a.request(t, face(t), sound(t))
	a.service.Engines = []string{"wav2lip"}
	large := a.request(t, noFace(t), sound(t))
	var log bytes.Buffer
	f := newFunction(t, a, &log)
	f.invoke(t, nil, 4*time.Minute)
	a.want(t, first, lipsync.Failed, "no face found in the video", 1)
	a.want(t, second, lipsync.Completed, "", 1)
	a.want(t, large, lipsync.Queued, "", 0)
	if means, err := f.queue.LockScaling(t.Context(), time.Now(), time.Now()); err != nil || means[lipsync.Small] <= 0 || means[lipsync.Small] > time.Minute {
		t.Errorf("got mean times of %v (%v), want that of the small requests", means, err)
	}
	if starts := strings.Count(log.String(), `"msg":"start"`); starts != 1+3 { // its own, and those of two requests and of the process that found none
		t.Errorf("%d processes started, want 4:\n%s", starts, &log)
	}
	if left, err := os.ReadDir(a.environment["LIPSYNC_SCRATCH"]); err != nil || len(left) > 0 {
		t.Errorf("scratch holds %v (%v), want nothing", left, err)
	}
}

// TestFunctionUnsafe has invocations of the function on a host that isn't safe. Each gives one small request to runners, until none waits. If the
// function couldn't start for another reason, it leaves them to other small workers.
func TestFunctionUnsafe(t *testing.T) {
	a := newAccount(t)
	all := []string{a.request(t, face(t), sound(t)), a.request(t, face(t), sound(t))}
	var log bytes.Buffer
	f := newFunction(t, a, &log)
	for i, c := range []struct {
		unable error
		large  int
	}{{errors.New("no ffmpeg"), 0}, {errUnsafe, 1}, {errUnsafe, 2}, {errUnsafe, 2}} {
		f.invoke(t, c.unable, time.Minute)
		large := 0
		for _, id := range all {
			r, err := a.service.Store.Requests.ByID(t.Context(), id)
			if err != nil || r.Attempts != 0 || r.Lease != "" {
				t.Errorf("invocation %d: got %d attempts and the lease %q (%v), want none", i, r.Attempts, r.Lease, err)
			}
			if r.Class == lipsync.Large {
				large++
			}
		}
		if told := strings.Count(log.String(), "given to runners"); large != c.large || told != c.large {
			t.Errorf("after invocation %d: %d requests are large, which is told %d times, want %d:\n%s", i, large, told, c.large, &log)
		}
	}
}

// TestFunctionCleans starts the function where another one was killed while it did a request.
func TestFunctionCleans(t *testing.T) {
	f := function{job: &job{scratch: t.TempDir()}}
	left := filepath.Join(f.scratch, processFolder+"1", "runner-2")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.clean(); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(f.scratch); err != nil || len(all) > 0 {
		t.Errorf("got %v (%v), want nothing", all, err)
	}
}

// TestFunctionTooLong has an invocation whose time ends during a request. The request becomes large, and neither the attempt nor its time counts.
func TestFunctionTooLong(t *testing.T) {
	a := newAccount(t)
	id := a.request(t, face(t), sound(t))
	f := newFunction(t, a, t.Output())
	f.invoke(t, nil, functionMargin+100*time.Millisecond)
	a.want(t, id, lipsync.Processing, "", 0)
	if r, err := a.service.Store.Requests.ByID(t.Context(), id); err != nil || r.Class != lipsync.Large {
		t.Errorf("got the class %q (%v), want large", r.Class, err)
	}
	if means, err := f.queue.LockScaling(t.Context(), time.Now(), time.Now()); err != nil || means[lipsync.Small] != 0 || means[lipsync.Large] != 0 {
		t.Errorf("got mean times of %v (%v), want none", means, err)
	}
}

// TestCross checks the names of compilers, packages and processors for the image, for ffmpeg and for a release.
func TestCross(t *testing.T) {
	for _, c := range []struct{ from, to, compiler, packages, processor string }{
		{"amd64", "amd64", "gcc", "gcc libc6-dev", "x86_64"},
		{"x86_64", "amd64", "gcc", "gcc libc6-dev", "x86_64"},
		{"arm64", "aarch64", "gcc", "gcc libc6-dev", "aarch64"},
		{"amd64", "arm64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross", "aarch64"},
		{"x86_64", "aarch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross", "aarch64"},
		{"arm64", "amd64", "x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu libc6-dev-amd64-cross", "x86_64"},
	} {
		for what, want := range map[string]string{"compiler": c.compiler, "packages": c.packages, "processor": c.processor} {
			out, err := exec.Command(filepath.Join("..", "..", ".ci", "cross"), c.from, c.to, what).CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%s for %s on %s: got %q (%v), want %s", what, c.to, c.from, out, err, want)
			}
		}
	}
}
