package wav2lip

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
)

// batch holds faces that go through the network together.
type batch struct {
	faces   []*buffers
	size    int     // number of faces of the binding: may be more than len(faces) if the model fixes it
	binding binding // nil until the batch is loaded
	err     error   // of loading or running the batch
}

// newBatch returns a batch with a copy of the list of faces.
func (e *Engine) newBatch(faces []*buffers) *batch {
	var b *batch
	select {
	case b = <-e.spare:
	default:
		b = new(batch)
	}
	b.faces = append(b.faces, faces...)
	return b
}

// recycle keeps a batch for newBatch.
func (e *Engine) recycle(b *batch) {
	clear(b.faces)
	*b = batch{faces: b.faces[:0]}
	select {
	case e.spare <- b:
	default: // there are enough
	}
}

// load gets a binding for the batch and fills the network's inputs. If the model fixes the size of batches, the inputs that are
// left over keep the values of an earlier batch.
func (e *Engine) load(b *batch) error {
	if b.size = len(b.faces); e.model.fixed {
		b.size = e.model.batch
	}
	bound, err := e.bindings.Get(e.ctx, b.size)
	if err != nil {
		return fmt.Errorf("bind %d faces: %w", b.size, err)
	}
	b.binding = bound
	faces, sound := bound.Input(e.model.faces), bound.Input(e.model.sound)
	for i, f := range b.faces {
		copy(faces[i*len(f.faces):], f.faces)
		copy(sound[i*len(f.sound):], f.sound[:])
	}
	return nil
}

// run runs the network on one batch after the other until the engine is closed.
func (e *Engine) run() {
	for {
		select {
		case b := <-e.batches:
			b.err = render.Guard(func() error { return e.paint(b) })
			select {
			case e.painted <- b:
			case <-e.ctx.Done():
				e.release(b)
			}
		case <-e.ctx.Done():
			return
		}
	}
}

// finishAll finishes the batches that have run, while the next batches run. It ends when the
// engine is closed.
func (e *Engine) finishAll() {
	for {
		select {
		case b := <-e.painted:
			e.finish(b)
		case <-e.ctx.Done():
			return
		}
	}
}

// paint runs the network on a batch. It loads the batch if the dispatcher has not.
func (e *Engine) paint(b *batch) error {
	if b.binding == nil {
		if err := e.load(b); err != nil {
			return err
		}
	}
	return b.binding.Run(e.ctx)
}

// finish copies the outputs of a batch and ends the calls that wait for its faces. If the batch had too little memory, finish
// lets the dispatcher split it.
func (e *Engine) finish(b *batch) {
	again := e.model.splits(b)
	for i, f := range b.faces {
		if b.err == nil {
			copy(f.output, b.binding.Output(0)[i*len(f.output):])
		}
		if !again {
			f.done <- b.err
		}
	}
	e.release(b)
	if !again {
		e.recycle(b)
		return
	}
	select {
	case e.failed <- b:
	case <-e.ctx.Done():
	}
}

// release gives the batch's binding back, if it has one.
func (e *Engine) release(b *batch) {
	if b.binding != nil {
		e.bindings.Put(b.size, b.binding)
	}
}

// splits tells whether the batch failed because of too little memory, and can be painted in smaller batches.
func (m *model) splits(b *batch) bool {
	return errors.Is(b.err, onnx.ErrMemory) && len(b.faces) > 1 && !m.fixed
}

// try runs the network on full batches, as many at once as in jobs. So a fault, or too little memory, shows now and not in a
// job. As in jobs, batches that have too little memory are halved.
func (e *Engine) try(ctx context.Context) error {
	for {
		all, ctx := errgroup.WithContext(ctx)
		for range e.model.runs {
			all.Go(func() error { return e.tryOnce(ctx) })
		}
		err := all.Wait()
		if half := e.model.batch / 2; half > 0 && !e.model.fixed && errors.Is(err, onnx.ErrMemory) {
			e.model.batch = half
			e.warn(half, err)
			continue
		}
		return err
	}
}

// tryOnce runs the network on one full batch.
func (e *Engine) tryOnce(ctx context.Context) error {
	n := e.model.batch
	b, err := e.bindings.Get(ctx, n)
	if err == nil {
		err = b.Run(ctx)
		e.bindings.Put(n, b)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("wav2lip: the network can't be run: %w", err)
	}
	return nil
}

// warn logs that batches have fewer faces from now on.
func (e *Engine) warn(faces int, err error) {
	e.log.Warn("batches of wav2lip are smaller from now on: one had too little memory", "faces", faces, "error", err)
}
