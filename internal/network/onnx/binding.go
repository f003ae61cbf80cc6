//go:build cgo

package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	ort "github.com/yalue/onnxruntime_go"
)

// Binding is the memory of the inputs and outputs of a network's run. It is made once
// and used for many runs, by one goroutine at a time. Several bindings of a session run
// at once on a CPU, and one after the other on a GPU.
//
// A CPU computes in that memory. For a GPU the library copies all inputs and outputs in
// each run. The library's own I/O binding would keep them on the GPU, but the Go wrapper's
// run with one (RunWithBinding) takes no options, so that no context could end it.
type Binding struct {
	session         *Session
	inputs, outputs []*tensor
	inputValues     []ort.Value
	outputValues    []ort.Value
	options         *ort.RunOptions
}

// Bind makes the memory for one set of shapes. outputs may be nil: then the shapes are
// those that the model fixes, or they are found by running it once. If ctx ends, that run
// ends soon after it, with its error.
func (s *Session) Bind(ctx context.Context, inputs, outputs [][]int) (_ *Binding, err error) {
	b := &Binding{session: s}
	runtime.SetFinalizer(b, (*Binding).Close) // frees the memory of a binding that nobody closed
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.options, err = ort.NewRunOptions(); err != nil {
		return nil, err
	}
	if b.inputs, err = newTensors("inputs", s.header.Inputs, inputs); err != nil {
		return nil, err
	}
	b.inputValues = values(b.inputs)
	if outputs == nil {
		if outputs, err = b.outputShapes(ctx); err != nil {
			return nil, err
		}
	}
	if b.outputs, err = newTensors("outputs", s.header.Outputs, outputs); err != nil {
		return nil, err
	}
	b.outputValues = values(b.outputs)
	return b, nil
}

// outputShapes returns the shapes of the outputs for the bound inputs.
func (b *Binding) outputShapes(ctx context.Context) ([][]int, error) {
	shapes := make([][]int, len(b.session.header.Outputs))
	known := 0
	for i, info := range b.session.header.Outputs {
		if _, err := info.Shape.Elements(); err == nil && info.Shape != nil {
			known++
		} else if info.Type == Float16 { // the wrapper cannot return such an output
			return nil, fmt.Errorf("the shape of the output %s has to be given", info)
		}
		shapes[i] = info.Shape
	}
	if known == len(shapes) {
		return shapes, nil
	}
	made := make([]ort.Value, len(shapes))
	err := b.run(ctx, made)
	for i, value := range made {
		if value == nil { // the run failed; the wrapper may have made other outputs before that
			continue
		}
		shapes[i] = nil
		for _, size := range value.GetShape() {
			shapes[i] = append(shapes[i], int(size))
		}
		err = errors.Join(err, value.Destroy())
	}
	return shapes, err
}

// Input returns the numbers of input i. They have to be written before Run.
func (b *Binding) Input(i int) []float32 { return b.inputs[i].numbers }

// Output returns the numbers of output i. They can be read after Run, until the next Run.
func (b *Binding) Output(i int) []float32 { return b.outputs[i].numbers }

// OutputShape returns the shape of output i.
func (b *Binding) OutputShape(i int) []int { return b.outputs[i].shape }

// Run runs the network. If ctx ends, Run ends soon after it, with its error. Run fails if
// it takes longer than any network without a fault.
func (b *Binding) Run(ctx context.Context) error {
	for _, t := range b.inputs {
		t.pack()
	}
	if err := b.run(ctx, b.outputValues); err != nil {
		return err
	}
	for _, t := range b.outputs {
		t.unpack()
	}
	return nil
}

// run runs the network and fills the outputs. Outputs that are nil are made.
func (b *Binding) run(ctx context.Context, outputs []ort.Value) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.session.use(ctx, func(network *ort.DynamicAdvancedSession) error { return b.runOn(ctx, network, outputs) })
}

func (b *Binding) runOn(ctx context.Context, network *ort.DynamicAdvancedSession, outputs []ort.Value) error {
	bounded, cancel := context.WithTimeout(ctx, b.session.longest)
	defer cancel()
	told := make(chan struct{})
	stop := context.AfterFunc(bounded, func() {
		defer close(told)
		_ = b.options.Terminate() // it sets a flag, and fails only on freed options
	})
	err := network.RunWithOptions(b.inputValues, outputs, b.options)
	if err != nil {
		err = fmt.Errorf("the network failed: %w", explain(err))
	}
	if stop() {
		return err
	}
	<-told
	if e := b.options.UnsetTerminate(); e != nil {
		return e
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the network did not end within %v", b.session.longest)
	}
	if err != nil {
		return ctx.Err()
	}
	return nil
}

// Close frees the memory.
func (b *Binding) Close() error {
	runtime.SetFinalizer(b, nil)
	var err error
	for _, t := range append(b.inputs, b.outputs...) {
		err = errors.Join(err, t.close())
	}
	b.inputs, b.outputs = nil, nil
	if b.options != nil {
		err = errors.Join(err, b.options.Destroy())
		b.options = nil
	}
	return err
}
