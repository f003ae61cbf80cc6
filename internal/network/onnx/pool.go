package onnx

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
)

// Pool keeps the bindings of one network for later calls. Each binding is for one size.
// The size is the dimension that differs from call to call, such as the number of faces
// in a batch. A Pool is safe for concurrent use. B is *Binding, except in tests.
type Pool[B io.Closer] struct {
	most int
	bind func(ctx context.Context, size int) (B, error)

	mu     sync.Mutex
	idle   []pooled[B] // in the order in which they were given back
	closed bool
	err    error // of closing bindings
}

// pooled is a binding that is not in use.
type pooled[B any] struct {
	size    int
	binding B
}

// NewPool returns an empty pool, which makes bindings with the function bind. It keeps
// at most the given number of bindings that are not in use.
func NewPool[B io.Closer](most int, bind func(ctx context.Context, size int) (B, error)) *Pool[B] {
	return &Pool[B]{most: most, bind: bind}
}

// Get returns a binding for the size. Only the caller uses it, until it gives the
// binding back by Put. Its inputs and outputs hold numbers of earlier calls.
func (p *Pool[B]) Get(ctx context.Context, size int) (B, error) {
	if b, ok := p.idleFor(size); ok {
		return b, nil
	}
	return p.bind(ctx, size)
}

// idleFor returns the binding for the size that was given back last, if there is one.
func (p *Pool[B]) idleFor(size int) (b B, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, one := range slices.Backward(p.idle) {
		if one.size == size {
			p.idle = slices.Delete(p.idle, i, i+1)
			return one.binding, true
		}
	}
	return b, false
}

// Put returns a binding for the size to the pool. If the pool is full, the binding
// that was not used for the longest time is closed.
func (p *Pool[B]) Put(size int, b B) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, pooled[B]{size, b})
	for p.closed && len(p.idle) > 0 || len(p.idle) > p.most {
		p.err = errors.Join(p.err, p.idle[0].binding.Close())
		p.idle = slices.Delete(p.idle, 0, 1)
	}
}

// Close closes the bindings that are not in use. Put closes the others when they are
// given back.
func (p *Pool[B]) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.idle {
		p.err = errors.Join(p.err, one.binding.Close())
	}
	p.idle, p.closed = nil, true
	return p.err
}
