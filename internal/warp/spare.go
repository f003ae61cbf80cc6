package warp

import "sync"

// spare keeps slices that nobody uses any more for whoever needs one next: each frame needs as
// many cells as the one before.
type spare[T any] struct{ slices sync.Pool }

// take returns a slice of n values, which can be any.
func (s *spare[T]) take(n int) []T {
	if kept, ok := s.slices.Get().(*[]T); ok && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return make([]T, n)
}

// give takes a slice back.
func (s *spare[T]) give(slice []T) { s.slices.Put(&slice) }
