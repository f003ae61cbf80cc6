package wav2lip

import (
	"context"
	"slices"

	"lipsync/internal/render"
)

// infer lets the network paint the face of the buffers, and waits for it. If the context ends before that, the buffers still
// belong to the dispatcher and must not be used again.
func (e *Engine) infer(ctx context.Context, b *buffers) error {
	select {
	case e.queue <- b:
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ctx.Done():
		return errClosed
	}
	select {
	case err := <-b.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ctx.Done():
		return errClosed
	}
}

// dispatcher makes batches of the faces in the engine's queue, and hands them to the runners. Only its own goroutine uses
// its fields.
type dispatcher struct {
	*Engine
	model   model      // a copy, whose batch is made smaller if memory is short
	halves  []*batch   // halves of batches that had too little memory; they are painted first
	waiting []*buffers // faces from the queue, in its order
	next    *batch     // a full and loaded batch that waits for a runner; nil: none
}

// dispatch works until the engine is closed.
func (e *Engine) dispatch() {
	d := dispatcher{Engine: e, model: e.model}
	for d.step() {
	}
	if d.next != nil {
		d.release(d.next)
	}
}

// step waits for a face, for a free runner, or for a batch that had too little memory. It returns false when the engine is
// closed.
func (d *dispatcher) step() bool {
	d.drain()
	d.prepare()
	var b *batch
	batches, n := d.batches, 0
	switch {
	case len(d.halves) > 0:
		b = d.halves[0]
	case d.next != nil:
		b = d.next
	case len(d.waiting) > 0: // a batch that is not full, if a runner is free
		n = d.model.together(len(d.waiting))
		b = d.newBatch(d.waiting[:n])
	default:
		batches = nil
	}
	select {
	case batches <- b:
		d.sent(b, n)
		return true
	case f := <-d.queue:
		d.waiting = append(d.waiting, f)
	case failed := <-d.failed:
		d.split(failed)
	case <-d.ctx.Done():
		return false
	}
	if n > 0 {
		d.recycle(b)
	}
	return true
}

// sent forgets a batch that a runner has received: the first of halves, or next, or the first n waiting faces.
func (d *dispatcher) sent(b *batch, n int) {
	switch {
	case n > 0:
		d.waiting = slices.Delete(d.waiting, 0, n)
	case b == d.next:
		d.next = nil
	default:
		d.halves = slices.Delete(d.halves, 0, 1)
	}
}

// drain receives the faces that are in the queue already.
func (d *dispatcher) drain() {
	for {
		select {
		case f := <-d.queue:
			d.waiting = append(d.waiting, f)
		default:
			return
		}
	}
}

// prepare loads the next batch if enough faces wait to fill it. It splits a batch that has too little memory. If a batch
// can't be loaded for another reason, the callers that wait for it get the error.
func (d *dispatcher) prepare() {
	for n := d.model.batch; d.next == nil && len(d.waiting) >= n; n = d.model.batch {
		b := d.newBatch(d.waiting[:n])
		d.waiting = slices.Delete(d.waiting, 0, n)
		b.err = render.Guard(func() error { return d.load(b) })
		switch {
		case b.err == nil:
			d.next = b
		case d.model.splits(b):
			d.split(b)
		default:
			d.finish(b)
		}
	}
}

// split halves a batch that had too little memory. If the batch was full, all later ones are at most half as large.
func (d *dispatcher) split(b *batch) {
	half := len(b.faces) / 2
	for faces := range slices.Chunk(b.faces, half) {
		d.halves = append(d.halves, d.newBatch(faces))
	}
	if len(b.faces) == d.model.batch {
		d.model.batch = half
		d.warn(half, b.err)
	}
	d.recycle(b)
}
