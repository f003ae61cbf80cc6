package render

import "context"

// buffers holds the free frames of one pass. Their number is fixed, so a stage that is ahead waits for the stages after it.
type buffers[F any] chan F

func newBuffers[F any](n int, newFrame func() F) buffers[F] {
	b := make(buffers[F], n)
	for range n {
		b <- newFrame()
	}
	return b
}

// get waits for a free frame.
func (b buffers[F]) get(ctx context.Context) (f F, err error) {
	select {
	case f = <-b:
		return f, nil
	case <-ctx.Done():
		return f, ctx.Err()
	}
}

func (b buffers[F]) put(f F) { b <- f }

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
