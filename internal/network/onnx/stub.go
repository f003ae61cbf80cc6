//go:build !cgo

package onnx

import (
	"context"
	"errors"
)

// With this file programs can be built without cgo. Open fails, so that the rest is never called.

// Runtime is ONNX Runtime, loaded.
type Runtime struct{}

// Open fails: there is no cgo to load ONNX Runtime with.
func Open(string) (*Runtime, error) {
	return nil, errors.New("this program was built without cgo, which ONNX Runtime takes: build it with CGO_ENABLED=1 and a C compiler")
}

func (r *Runtime) Version() string { return "" }

func (r *Runtime) Available(Provider) error { return errors.ErrUnsupported }

func (r *Runtime) LoadModel(*Model, Options) (*Session, error) {
	return nil, errors.ErrUnsupported
}

// Session is a network that is ready to run.
type Session struct{}

func (s *Session) Inputs() []Info     { return nil }
func (s *Session) Outputs() []Info    { return nil }
func (s *Session) Provider() Provider { return "" }
func (s *Session) Threads() int       { return 0 }
func (s *Session) Close() error       { return nil }

func (s *Session) Bind(context.Context, [][]int, [][]int) (*Binding, error) {
	return nil, errors.ErrUnsupported
}

// Binding is the memory of one call of a network.
type Binding struct{}

func (b *Binding) Input(int) []float32       { return nil }
func (b *Binding) Output(int) []float32      { return nil }
func (b *Binding) OutputShape(int) []int     { return nil }
func (b *Binding) Run(context.Context) error { return errors.ErrUnsupported }
func (b *Binding) Close() error              { return nil }
