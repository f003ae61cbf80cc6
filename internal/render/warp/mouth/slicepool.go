package mouth

import "sync"

// slicePool keeps slices that are no longer used, for the next caller. Each frame needs slices of
// about the same length as the one before.
type slicePool[T any] struct{ slices sync.Pool }

// get returns a slice of n values. The caller has to set them all.
func (p *slicePool[T]) get(n int) []T {
	if kept, ok := p.slices.Get().(*[]T); ok && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]T, n)
}

// put gives a slice back. The caller must not use it afterwards.
func (p *slicePool[T]) put(slice []T) { p.slices.Put(&slice) }
