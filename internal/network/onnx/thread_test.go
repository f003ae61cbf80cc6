//go:build cgo

package onnx

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestThread checks that what many goroutines do on a thread is done by one thread, and that it ends with neither an error nor a panic.
func TestThread(t *testing.T) {
	thread := newThread()
	defer close(thread)
	var mu sync.Mutex
	threads := map[int]bool{}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			err := onThread(thread, func() error {
				mu.Lock()
				defer mu.Unlock()
				threads[syscall.Gettid()] = true
				runtime.Gosched()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(threads) != 1 {
		t.Errorf("got %d threads, want 1", len(threads))
	}
	want := errors.New("no memory")
	if err := onThread(thread, func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if err := onThread(thread, func() error { panic("odd") }); err == nil || !strings.Contains(err.Error(), "odd") {
		t.Errorf("got %v, want the panic", err)
	}
}
