package lipsync

import "context"

// heldKey is the key of a context's request.
type heldKey struct{}

// WithHeld returns a context for work on a claimed request. On AWS each request gives a runner rights to its own objects. So Objects read from the context
// for which request they are called.
func WithHeld(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, heldKey{}, r)
}

// HeldIn returns the request of a context that WithHeld made, or the zero one.
func HeldIn(ctx context.Context) Request {
	r, _ := ctx.Value(heldKey{}).(Request)
	return r
}
