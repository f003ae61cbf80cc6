package simulate

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errThrottled is the answer of Lambda when too many calls run, or of Batch.
var errThrottled = errors.New("throttled")

// functions models Lambda: how many calls run at a time, cold starts, and what is paid for.
type functions struct {
	Functions

	mu      sync.Mutex
	running int
	idle    map[string]int // instances that stand ready, by function
	all     map[string]*tally
	most    int
}

// tally is what became of the calls of a function.
type tally struct {
	calls, throttled, failed, cold int64
	took                           time.Duration // all together
	longest                        time.Duration
}

func newFunctions(f Functions) *functions {
	return &functions{Functions: f, idle: make(map[string]int), all: make(map[string]*tally)}
}

// begin takes a place for a call. It reports whether its start is a cold one.
func (f *functions) begin(name string) (cold bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.all[name]
	if t == nil {
		t = new(tally)
		f.all[name] = t
	}
	if f.Concurrency > 0 && f.running >= f.Concurrency {
		t.throttled++
		return false, errThrottled
	}
	t.calls++
	f.running++
	f.most = max(f.most, f.running)
	if f.idle[name] == 0 {
		t.cold++
		return true, nil
	}
	f.idle[name]--
	return false, nil
}

// call runs a call of the function, which has the timeout.
func (f *functions) call(ctx context.Context, name string, timeout time.Duration, do func(context.Context) error) error {
	cold, err := f.begin(name)
	if err != nil {
		return err
	}
	if cold {
		time.Sleep(f.Cold)
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	time.Sleep(f.Own)
	err = do(limited)
	took := time.Since(start)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	f.idle[name]++
	t := f.all[name]
	t.took += took
	t.longest = max(t.longest, took)
	if err != nil {
		t.failed++
	}
	return err
}

// longest returns how long the longest call of a function took.
func (f *functions) longest(name string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[name] == nil {
		return 0
	}
	return f.all[name].longest
}
