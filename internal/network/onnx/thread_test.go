//go:build cgo && linux

package onnx

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestThread checks that one thread does what many goroutines do on it, also after pauses on busy cores.
func TestThread(t *testing.T) {
	thread := newThread()
	defer close(thread)
	ended, end := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for ended.Err() == nil {
				time.Sleep(time.Microsecond)
			}
		})
	}
	threads := map[int]bool{} // only the thread uses it
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			err := onThread(t.Context(), thread, func() error {
				time.Sleep(50 * time.Microsecond)
				threads[syscall.Gettid()] = true
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	end()
	busy.Wait()
	if len(threads) != 1 {
		t.Errorf("got %d threads, want 1", len(threads))
	}
}

// TestThreadEnds checks what ends a wait for a thread: an error, a panic, or the context while another run has the thread.
func TestThreadEnds(t *testing.T) {
	thread := newThread()
	defer close(thread)
	want := errors.New("no memory")
	if err := onThread(t.Context(), thread, func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if err := onThread(t.Context(), thread, func() error { panic("odd") }); err == nil || !strings.Contains(err.Error(), "odd") {
		t.Errorf("got %v, want the panic", err)
	}
	over := make(chan struct{})
	thread <- func() { <-over }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := onThread(ctx, thread, func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context has ended", err)
	}
	close(over)
}
