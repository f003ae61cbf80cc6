// Package flow has what the stages of a render are made of: groups of goroutines, the buffers of frames between them, reads and sends that end with
// their context, and scratch files.
package flow

import (
	"context"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/domain/failure"
)

// Buffers holds the free frames of one pass. Their number is fixed, so a stage that is ahead waits for the stages after it.
type Buffers[F any] chan F

// NewBuffers returns n free frames.
func NewBuffers[F any](n int, newFrame func() F) Buffers[F] {
	b := make(Buffers[F], n)
	for range n {
		b <- newFrame()
	}
	return b
}

// Get waits for a free frame.
func (b Buffers[F]) Get(ctx context.Context) (f F, err error) {
	select {
	case f = <-b:
		return f, nil
	case <-ctx.Done():
		return f, ctx.Err()
	}
}

// Put gives a frame back.
func (b Buffers[F]) Put(f F) { b <- f }

// Send sends v, unless the context ends first.
func Send[T any](ctx context.Context, c chan<- T, v T) error {
	select {
	case c <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SendAll sends each of the values, unless the context ends first.
func SendAll[T any](ctx context.Context, c chan<- T, values []T) error {
	for _, v := range values {
		if err := Send(ctx, c, v); err != nil {
			return err
		}
	}
	return nil
}

// Group is an errgroup.Group in which a panic becomes an error: a panic that the media of one job cause must not end other jobs.
type Group struct{ *errgroup.Group }

// NewGroup returns a group, and a context that ends when one of its goroutines fails.
func NewGroup(ctx context.Context) (Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return Group{g}, ctx
}

// Go calls f in a goroutine.
func (g Group) Go(f func() error) { g.Group.Go(func() error { return failure.Guard(f) }) }

// Scratch returns an empty file for what would take too much memory. It exists until it is closed.
func Scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "scratch-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// NewReader returns a reader of r that fails when the context ends.
func NewReader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
