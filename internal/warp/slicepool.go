package warp

import "sync"

// slicePool keeps slices that are no longer used, for the next caller that needs one. Each frame
// needs about as many cells as the one before.
type slicePool[T any] struct{ slices sync.Pool }

// get returns a slice of n values. They can be any: the caller sets them all.
func (p *slicePool[T]) get(n int) []T {
	if kept, ok := p.slices.Get().(*[]T); ok && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]T, n)
}

// put gives a slice back. The caller must not use it afterwards.
func (p *slicePool[T]) put(slice []T) { p.slices.Put(&slice) }
