package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/ffmpegtest"
)

// inPieces is the first argument with which the test's own program does a job, and makes outputs in short pieces.
const inPieces = "in-pieces"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == inPieces {
		fmt.Fprintln(os.Stderr, doInPieces(context.Background()))
		os.Exit(failed)
	}
	if len(os.Args) > 1 && os.Args[1] == asRequest {
		main()
	}
	os.Exit(m.Run())
}

func doInPieces(ctx context.Context) error {
	configured, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	var j job
	deployment, err := cloud.New(configured, os.Getenv, os.Stdout, j.read)
	if err != nil {
		return err
	}
	j.pieceTime = 200 * time.Millisecond
	return j.do(ctx, deployment)
}

// ago returns a clock that is late.
func ago(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(-d) } }

// TestResume_long kills a runner in the middle of a rendering. The next runner goes on after the pieces that the first one kept.
func TestResume_long(t *testing.T) {
	a := newAccount(t)
	a.service.Now = ago(3 * lipsync.Lease)
	id := a.request(t, face(t), ffmpegtest.Make(t, "long.wav", "-f", "lavfi", "-i", "sine=d=20"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a.environment["LIPSYNC_BROKER_FUNCTION"] = lateFunction
	first := exec.CommandContext(t.Context(), self, inPieces)
	first.Env = os.Environ()
	for name, value := range a.environment {
		first.Env = append(first.Env, name+"="+value)
	}
	var said strings.Builder
	first.Stderr = &said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	kept := a.awaitPieces(t, id)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the runner ended by itself: %v, %s", err, &said)
	}
	if err := removeAll(a.environment["LIPSYNC_SCRATCH"]); err != nil {
		t.Fatal(err)
	}

	a.environment["LIPSYNC_BROKER_FUNCTION"] = "broker"
	log := a.run(t, t.Context(), 1, done, nil)
	a.want(t, id, lipsync.Completed, "", 2)
	line := regexp.MustCompile(`"msg":"rendered".*"frames_reused":[1-9]\d+,"of":\d+`).FindString(log)
	t.Log(line)
	if line == "" || !regexp.MustCompile(`"msg":"goes on after the pieces of earlier attempts".*"pieces":[1-9]`).MatchString(log) {
		t.Errorf("the second runner didn't go on after %q; its log:\n%s", kept, log)
	}
	if left := a.pieces(t, id); len(left) > 0 {
		t.Errorf("the pieces %q are left", left)
	}
	a.wantFrames(t, id, line)
}

// wantFrames checks that the output of a request has as many frames as the log tells.
func (a *account) wantFrames(t *testing.T, id, line string) {
	t.Helper()
	r, err := a.service.Store.Requests.ByID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	content, _, err := a.service.Objects.Open(t.Context(), r.Output)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	count := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v",
		"-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", "-")
	count.Stdin = content
	got, err := count.Output()
	if want := line[strings.LastIndex(line, ":")+1:]; err != nil || strings.TrimSpace(string(got)) != want {
		t.Errorf("got %s frames (%v), want %s", got, err, want)
	}
}

// pieces returns the keys of the pieces of a request's output.
func (a *account) pieces(t *testing.T, id string) (keys []string) {
	t.Helper()
	err := a.service.Objects.List(t.Context(), "pieces/"+id+"/", func(key string, _ time.Time) error {
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// awaitPieces waits until two pieces of a request's output are kept.
func (a *account) awaitPieces(t *testing.T, id string) []string {
	t.Helper()
	for range 3000 {
		if keys := a.pieces(t, id); len(keys) >= 2 {
			slices.Sort(keys)
			return keys
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("no pieces are kept")
	return nil
}

// removeAll removes what a folder has.
func removeAll(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return err
}
