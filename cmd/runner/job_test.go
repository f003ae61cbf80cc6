package main

import (
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"lipsync/internal/disk"
	"lipsync/internal/onnx"
)

// TestCores has the job definition say how many cores of the machine are the
// job's, more or fewer than there are.
func TestCores(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	objects, err := disk.Open(t.TempDir(), time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Close() })
	all := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(all + 1))
	r, err := (&job{models: t.TempDir()}).open(t.Context(), objects, log)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if threads, workers := r.Tools.Threads, r.Engines["warp"].Workers(); threads != all+1 || workers != all+1 {
		t.Errorf("got %d threads of ffmpeg and %d workers, want %d", threads, workers, all+1)
	}
}

func TestReadProviders(t *testing.T) {
	for list, want := range map[string][]onnx.Provider{"": nil, "cuda,cpu": {onnx.CUDA, onnx.CPU}, "TensorRT": {onnx.TensorRT}} {
		if got, err := readProviders(list); !slices.Equal(got, want) || err != nil {
			t.Errorf("%q: got %v, %v, want %v", list, got, err, want)
		}
	}
	if got, err := readProviders("cuda,abacus"); err == nil {
		t.Errorf("a provider that there isn't: got %v", got)
	}
}
