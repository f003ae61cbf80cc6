package main

import (
	"io"
	"runtime"
	"testing"

	"lipsync/internal/cloud"
	"lipsync/internal/render"
)

// TestCores has the job definition say how many cores of the machine are the
// job's, more or fewer than there are.
func TestCores(t *testing.T) {
	t.Setenv("AWS_REGION", "us-east-1")
	home, err := cloud.New(t.Context(), func(string) string { return "" }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	all := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(all + 1))
	w, err := new(job).worker(home, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := w.Renderer.(*render.Renderer)
	if threads, workers := r.Tools.Threads, r.Engines["warp"].Workers(); threads != all+1 || workers != all+1 {
		t.Errorf("got %d threads of ffmpeg and %d workers, want %d", threads, workers, all+1)
	}
}
