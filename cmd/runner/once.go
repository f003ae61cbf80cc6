package main

import (
	"context"
	"sync"
)

// once has a value that is opened at its first use, for all requests of the job. If that fails, the next use tries again.
type once[T any] struct {
	job  context.Context // opening ends with it, and not with the request that needs the value first
	open func(context.Context) (T, error)

	mu   sync.Mutex
	last *opening[T] // nil before the first use, and after a failure
}

// opening is a call of open. Its fields are set once done is closed.
type opening[T any] struct {
	done  chan struct{}
	value T
	err   error
}

func newOnce[T any](job context.Context, open func(context.Context) (T, error)) *once[T] {
	return &once[T]{job: job, open: open}
}

// get returns the value, or the cause of ctx if that ends before.
func (o *once[T]) get(ctx context.Context) (none T, err error) {
	last := o.begin()
	select {
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-last.done:
		return last.value, last.err
	}
}

// begin returns the last opening. It begins one unless the value is open or being opened.
func (o *once[T]) begin() *opening[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last != nil {
		return o.last
	}
	next := &opening[T]{done: make(chan struct{})}
	o.last = next
	go func() {
		defer close(next.done)
		if next.value, next.err = o.open(o.job); next.err != nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.last = nil
		}
	}()
	return next
}

// opened returns the value if it is open, and else the zero value. It waits for an opening that runs.
func (o *once[T]) opened() (value T) {
	o.mu.Lock()
	last := o.last
	o.mu.Unlock()
	if last != nil {
		<-last.done
		value = last.value
	}
	return value
}
