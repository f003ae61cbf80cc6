package render

import (
	"context"
	"image"

	"lipsync/internal/ffmpeg"
)

// buffers are the frames that one pass works with: no more are ever made, so
// whoever is ahead waits for those behind.
type buffers chan *image.YCbCr

func newBuffers(v *ffmpeg.Video, n int) buffers {
	b := make(buffers, n)
	for range n {
		b <- v.NewFrame()
	}
	return b
}

// take waits for a free frame.
func (b buffers) take(ctx context.Context) (*image.YCbCr, error) {
	select {
	case f := <-b:
		return f, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b buffers) give(f *image.YCbCr) { b <- f }

// send passes v on unless the context ends first.
func send[T any](ctx context.Context, c chan<- T, v T) error {
	select {
	case c <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sendAll sends each of the values, unless the context ends first.
func sendAll[T any](ctx context.Context, c chan<- T, values []T) error {
	for _, v := range values {
		if err := send(ctx, c, v); err != nil {
			return err
		}
	}
	return nil
}
