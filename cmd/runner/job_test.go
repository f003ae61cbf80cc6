package main

import (
	"log/slog"
	"runtime"
	"testing"
	"time"

	"lipsync/internal/disk"
)

// TestCores has the job definition say how many cores of the machine are the
// job's, more or fewer than there are.
func TestCores(t *testing.T) {
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Close() })
	all := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(all + 1))
	r, err := (&job{models: t.TempDir()}).open(t.Context(), objects)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if threads, workers := r.Tools.Threads, r.Engines["warp"].Workers(); threads != all+1 || workers != all+1 {
		t.Errorf("got %d threads of ffmpeg and %d workers, want %d", threads, workers, all+1)
	}
}
