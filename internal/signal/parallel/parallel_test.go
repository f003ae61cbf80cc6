package parallel_test

import (
	"slices"
	"testing"

	"lipsync/internal/signal/parallel"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		calls := make([]int, n)
		parallel.Each(n, func(i int) { calls[i]++ })
		if !slices.Equal(calls, slices.Repeat([]int{1}, n)) {
			t.Errorf("of %d: got calls %v, want each once", n, calls)
		}
	}
}

// TestPanic checks that a panic can be recovered where Each was called.
func TestPanic(t *testing.T) {
	defer func() {
		if p := recover(); p != "odd" {
			t.Errorf("got %v, want the panic", p)
		}
	}()
	parallel.Each(4, func(i int) {
		if i%2 == 1 {
			panic("odd")
		}
	})
}
