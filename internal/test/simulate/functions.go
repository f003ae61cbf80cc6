package simulate

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errThrottled is the answer of Lambda if too many calls run, and of Batch if it gets too many
// calls a second.
var errThrottled = errors.New("throttled")

// functions models Lambda: concurrent calls, cold starts, and cost.
type functions struct {
	Functions

	mu      sync.Mutex
	running int
	idle    map[string]int // idle instances, by function
	all     map[string]*tally
	most    int
}

// tally counts the calls of a function by their results.
type tally struct {
	calls, throttled, failed, cold int64
	took                           time.Duration // total duration
	longest                        time.Duration
}

func newFunctions(f Functions) *functions {
	return &functions{Functions: f, idle: make(map[string]int), all: make(map[string]*tally)}
}

// begin starts a call, if the concurrency limit allows. It reports whether it is a cold start.
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

// longest returns the duration of the function's longest call.
func (f *functions) longest(name string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[name] == nil {
		return 0
	}
	return f.all[name].longest
}
