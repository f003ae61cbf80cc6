package render

import (
	"context"
	"image"

	"lipsync/internal/ffmpeg"
)

// buffers holds the free frames of one pass. Their number is fixed, so a stage that is ahead waits for the stages after it.
type buffers chan *image.YCbCr

func newBuffers(v *ffmpeg.Video, n int) buffers {
	b := make(buffers, n)
	for range n {
		b <- v.NewFrame()
	}
	return b
}

// get waits for a free frame.
func (b buffers) get(ctx context.Context) (*image.YCbCr, error) {
	select {
	case f := <-b:
		return f, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b buffers) put(f *image.YCbCr) { b <- f }

// send sends v, unless the context ends first.
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
