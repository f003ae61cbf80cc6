package main

import (
	"bufio"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/network/onnx"
	"lipsync/internal/store/disk"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/work/worker"
)

// TestCores checks that the runner uses the number of cores that the job definition gives it by
// GOMAXPROCS, which may differ from the machine's.
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

// TestOpensAtClaim has a worker tell of a claim. The renderer must open at once, before anything is rendered.
func TestOpensAtClaim(t *testing.T) {
	log, lines := io.Pipe()
	opened := make(chan struct{})
	tell := sync.OnceFunc(func() { close(opened) })
	go func() {
		for all := bufio.NewScanner(log); all.Scan(); {
			if strings.Contains(all.Text(), "sandbox of ffmpeg") {
				tell()
			}
		}
	}()
	defer log.Close()
	j := &job{scratch: t.TempDir(), duty: lipsync.DoesSmall}
	d := &cloud.Deployment{Service: &service.Service{Base: &base.Base{}}, Log: slog.New(slog.NewTextHandler(lines, nil))}
	err := j.with(t.Context(), d, time.Time{}, func(c worker.Config) error {
		select {
		case <-opened:
			t.Error("it opened without a claim")
		case <-time.After(10 * time.Millisecond):
		}
		c.Claimed()
		select {
		case <-opened:
		case <-time.After(time.Minute):
			t.Error("it didn't open in a minute")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOpenWithModels checks that the bucket's models are used, on the provider that was asked for,
// if the machine has it. Otherwise there must be a warning.
func TestOpenWithModels(t *testing.T) {
	onnxtest.Runtime(t)
	m := newModels(t)
	network := string(onnxtest.AsItIs().Bytes())
	m.put("models.json", catalogOf(network))
	m.put("w.onnx", network)
	j := &job{models: m.folder, library: onnxtest.Library(t), providers: "tensorrt,cpu"}
	s, err := j.open(t.Context(), m.objects, slog.New(slog.NewTextHandler(&m.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if names, err := s.Names("wav2lip"); err != nil {
		t.Errorf("got %v, %v, want the engine of the model", names, err)
	}
	if got := m.log.String(); !strings.Contains(got, "role=wav2lip") || !strings.Contains(got, "=TensorRT") {
		t.Errorf("got %s, want TensorRT tried for the model", got)
	}
}

// TestOpenRotten has a kept model that is wrong but has the right size. Fetching doesn't read it, but
// loading does: it is fetched again, once.
func TestOpenRotten(t *testing.T) {
	onnxtest.Runtime(t)
	m := newModels(t)
	network := string(onnxtest.AsItIs().Bytes())
	m.put("models.json", catalogOf(network))
	m.put("w.onnx", network)
	folder, _ := m.fetch(network)
	rot := "?" + network[1:]
	m.write(filepath.Join(folder, "w.onnx"), rot)
	m.fetch(rot)
	s, err := (&job{models: m.folder, library: onnxtest.Library(t), providers: "cpu"}).open(t.Context(), m.objects, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if names, err := s.Names("wav2lip"); err != nil {
		t.Errorf("got %v, %v, want the engine of the model", names, err)
	}
	m.fetch(network)
}

func TestReadProviders(t *testing.T) {
	for list, want := range map[string][]onnx.Provider{"": nil, "cuda,cpu": {onnx.CUDA, onnx.CPU}, "TensorRT": {onnx.TensorRT}} {
		if got, err := readProviders(list); !slices.Equal(got, want) || err != nil {
			t.Errorf("%q: got %v, %v, want %v", list, got, err, want)
		}
	}
	if got, err := readProviders("cuda,abacus"); err == nil {
		t.Errorf("an unknown provider: got %v", got)
	}
}
