package onnx_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"lipsync/internal/network/onnx"
)

// bound is a binding that only tells whether it is closed.
type bound struct {
	name   string
	closed bool
	err    error
}

func (b *bound) Close() error {
	b.closed = true
	return b.err
}

// bounds makes bindings, and records the sizes that it made some for.
type bounds struct {
	t    *testing.T
	pool *onnx.Pool[*bound]
	made []int
}

func newBounds(t *testing.T, most int) *bounds {
	b := &bounds{t: t}
	b.pool = onnx.NewPool(most, func(_ context.Context, size int) (*bound, error) {
		b.made = append(b.made, size)
		return &bound{}, nil
	})
	return b
}

func (b *bounds) get(size int) *bound {
	b.t.Helper()
	one, err := b.pool.Get(b.t.Context(), size)
	if err != nil {
		b.t.Fatal(err)
	}
	return one
}

// TestPoolReuses checks that a binding is made only where none of its size is idle.
func TestPoolReuses(t *testing.T) {
	b := newBounds(t, 10)
	first, second := b.get(4), b.get(4)
	if first == second {
		t.Fatal("a binding that is in use was taken")
	}
	b.pool.Put(4, first)
	if got := b.get(2); got == first {
		t.Error("a binding for 4 was taken for 2")
	}
	b.pool.Put(4, second)
	if got := b.get(4); got != second {
		t.Error("it was not the binding that was given back last")
	}
	if got := b.get(4); got != first {
		t.Error("the first binding was not taken again")
	}
	if want := []int{4, 4, 2}; !slices.Equal(b.made, want) {
		t.Errorf("bindings for %v were made, want %v", b.made, want)
	}
}

// TestPoolIsBounded checks that of too many idle bindings the oldest is closed.
func TestPoolIsBounded(t *testing.T) {
	b := newBounds(t, 2)
	list := []*bound{b.get(1), b.get(2), b.get(3)}
	for i, one := range list {
		b.pool.Put(i+1, one)
	}
	if !list[0].closed || list[1].closed || list[2].closed {
		t.Errorf("closed: %v, %v and %v, want only the first", list[0].closed, list[1].closed, list[2].closed)
	}
	if got := b.get(2); got != list[1] {
		t.Error("the second binding was not kept")
	}
}

// TestPoolCloses checks that no binding outlives a closed pool, and that no error of
// closing one is lost.
func TestPoolCloses(t *testing.T) {
	b := newBounds(t, 2)
	idle, used := b.get(1), b.get(1)
	idle.err = errors.New("stuck")
	b.pool.Put(1, idle)
	if err := b.pool.Close(); !errors.Is(err, idle.err) {
		t.Errorf("got %v, want %v", err, idle.err)
	}
	if !idle.closed || used.closed {
		t.Errorf("closed: the idle one %v, the one in use %v, want only the idle one", idle.closed, used.closed)
	}
	if b.pool.Put(1, used); !used.closed {
		t.Error("what was given back after the end was not closed")
	}
}

// TestPoolTellsWhy checks that the error of making a binding is that of Get.
func TestPoolTellsWhy(t *testing.T) {
	broken := errors.New("broken")
	p := onnx.NewPool(1, func(context.Context, int) (*bound, error) { return nil, broken })
	if _, err := p.Get(t.Context(), 1); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// TestPoolIsShared uses a pool from several goroutines, each of which must have its
// binding for itself.
func TestPoolIsShared(t *testing.T) {
	p := onnx.NewPool(2, func(context.Context, int) (*bound, error) { return &bound{}, nil })
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			for range 200 {
				b, err := p.Get(t.Context(), 1)
				if err != nil || b.closed {
					t.Errorf("got a binding closed %v, %v", b.closed, err)
				}
				if b.name = name; b.name != name {
					t.Error("another has the binding as well")
				}
				p.Put(1, b)
			}
		})
	}
	all.Wait()
}
