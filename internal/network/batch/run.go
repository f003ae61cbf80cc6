package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/domain/failure"
	"lipsync/internal/network/onnx"
)

// batch holds items that go through the network together.
type batch struct {
	items   []*Item
	size    int     // number of items of the binding: more than len(items) if the run is filled up
	binding Binding // nil until the batch is loaded
	err     error   // of loading or running the batch
}

// recycle keeps a batch for newBatch.
func (q *Queue) recycle(b *batch) {
	clear(b.items)
	*b = batch{items: b.items[:0]}
	select {
	case q.spare <- b:
	default: // there are enough
	}
}

// load gets a binding for the batch and fills the network's inputs. The parts of inputs that are left over keep the values of an
// earlier batch.
func (q *Queue) load(b *batch) error {
	bound, err := q.bindings.Get(q.ctx, b.size)
	if err != nil {
		return fmt.Errorf("bind %d items: %w", b.size, err)
	}
	b.binding = bound
	for k := range b.items[0].Inputs {
		all := bound.Input(k)
		for i, item := range b.items {
			copy(all[i*len(item.Inputs[k]):], item.Inputs[k])
		}
	}
	return nil
}

// run runs the network on one batch after the other until the queue is closed.
func (q *Queue) run() {
	for {
		select {
		case b := <-q.batches:
			b.err = failure.Guard(func() error { return q.runOn(b) })
			select {
			case q.ran <- b:
			case <-q.ctx.Done():
				q.release(b)
			}
		case <-q.ctx.Done():
			return
		}
	}
}

// runOn runs the network on a batch. It loads the batch if the dispatcher has not.
func (q *Queue) runOn(b *batch) error {
	if b.binding == nil {
		if err := q.load(b); err != nil {
			return err
		}
	}
	return b.binding.Run(q.ctx)
}

// finishAll finishes the batches that have run, while the next batches run. It ends when the queue is closed.
func (q *Queue) finishAll() {
	for {
		select {
		case b := <-q.ran:
			q.finish(b)
		case <-q.ctx.Done():
			return
		}
	}
}

// finish copies the outputs of a batch and ends the calls that wait for its items. If the batch had too little memory, finish lets
// the dispatcher split it.
func (q *Queue) finish(b *batch) {
	again := q.splits(b)
	for i, item := range b.items {
		if b.err == nil {
			for k, part := range item.Outputs {
				copy(part, b.binding.Output(k)[i*len(part):])
			}
		}
		if !again {
			item.done <- b.err
		}
	}
	q.release(b)
	if !again {
		q.recycle(b)
		return
	}
	select {
	case q.failed <- b:
	case <-q.ctx.Done():
	}
}

// release gives the batch's binding back, if it has one.
func (q *Queue) release(b *batch) {
	if b.binding != nil {
		q.bindings.Put(b.size, b.binding)
	}
}

// splits tells whether the batch failed because of too little memory, and can run in smaller batches.
func (q *Queue) splits(b *batch) bool {
	return errors.Is(b.err, onnx.ErrMemory) && b.size > 1 && !q.network.Fixed
}

// try runs the network on full batches, as many at once as there will be. Batches that have too little memory are halved, as they
// are later.
func (q *Queue) try(ctx context.Context) error {
	for {
		all, ctx := errgroup.WithContext(ctx)
		for range q.network.Runs {
			all.Go(func() error { return q.tryOnce(ctx) })
		}
		err := all.Wait()
		if half := q.network.Most / 2; half > 0 && !q.network.Fixed && errors.Is(err, onnx.ErrMemory) {
			q.network.Most = half
			q.warn(half, err)
			continue
		}
		return err
	}
}

// tryOnce runs the network on one full batch.
func (q *Queue) tryOnce(ctx context.Context) error {
	b, err := q.bindings.Get(ctx, q.network.Most)
	if err == nil {
		err = b.Run(ctx)
		q.bindings.Put(q.network.Most, b)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the network can't be run: %w", err)
	}
	return nil
}

// Runs returns the number of runs of a session at once that keeps busy what computes it. A GPU does one after the other.
func Runs(s *onnx.Session) int {
	if s.Provider() != onnx.CPU {
		return 1
	}
	return max(1, runtime.GOMAXPROCS(0)/s.Threads())
}
