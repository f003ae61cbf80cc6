package batch

import (
	"slices"

	"lipsync/internal/domain/failure"
)

// dispatcher makes batches of the items in the queue, and hands them to the runners. Only its own goroutine uses its fields.
type dispatcher struct {
	*Queue
	network Network  // a copy, whose Most is made smaller if memory is short
	parts   []*batch // parts of batches that had too little memory; they run first
	waiting []*Item  // items from the queue, in its order
	next    *batch   // a full and loaded batch that waits for a runner; nil: none
}

// dispatch works until the queue is closed.
func (q *Queue) dispatch() {
	d := dispatcher{Queue: q, network: q.network}
	for d.step() {
	}
	if d.next != nil {
		d.release(d.next)
	}
}

// step waits for an item, for a free runner, or for a batch that had too little memory. It returns false when the queue is closed.
func (d *dispatcher) step() bool {
	d.drain()
	d.prepare()
	var b *batch
	batches, n := d.batches, 0
	switch {
	case len(d.parts) > 0:
		b = d.parts[0]
	case d.next != nil:
		b = d.next
	case len(d.waiting) > 0: // a batch that is not full, if a runner is free
		n = d.network.together(len(d.waiting))
		b = d.newBatch(d.waiting[:n])
	default:
		batches = nil
	}
	select {
	case batches <- b:
		d.sent(b, n)
		return true
	case item := <-d.queue:
		d.waiting = append(d.waiting, item)
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

// newBatch returns a batch with a copy of the list of items.
func (d *dispatcher) newBatch(items []*Item) *batch {
	var b *batch
	select {
	case b = <-d.spare:
	default:
		b = new(batch)
	}
	b.items = append(b.items, items...)
	if b.size = len(items); d.network.whole() {
		b.size = d.network.Most
	}
	return b
}

// sent forgets a batch that a runner has received: the first of parts, or next, or the first n waiting items.
func (d *dispatcher) sent(b *batch, n int) {
	switch {
	case n > 0:
		d.waiting = slices.Delete(d.waiting, 0, n)
	case b == d.next:
		d.next = nil
	default:
		d.parts = slices.Delete(d.parts, 0, 1)
	}
}

// drain receives the items that are in the queue already.
func (d *dispatcher) drain() {
	for {
		select {
		case item := <-d.queue:
			d.waiting = append(d.waiting, item)
		default:
			return
		}
	}
}

// prepare loads the next batch if enough items wait to fill it. It splits a batch that has too little memory. If a batch can't be
// loaded for another reason, the callers that wait for it get the error.
func (d *dispatcher) prepare() {
	for n := d.network.Most; d.next == nil && len(d.waiting) >= n; n = d.network.Most {
		b := d.newBatch(d.waiting[:n])
		d.waiting = slices.Delete(d.waiting, 0, n)
		b.err = failure.Guard(func() error { return d.load(b) })
		switch {
		case b.err == nil:
			d.next = b
		case d.splits(b):
			d.split(b)
		default:
			d.finish(b)
		}
	}
}

// split makes batches of at most half the size of one that had too little memory. If the batch was as large as batches may be, all
// later ones are at most half as large.
func (d *dispatcher) split(b *batch) {
	if b.size == d.network.Most {
		d.network.Most /= 2
		d.warn(d.network.Most, b.err)
	}
	for items := range slices.Chunk(b.items, min(b.size/2, d.network.Most)) {
		d.parts = append(d.parts, d.newBatch(items))
	}
	d.recycle(b)
}
