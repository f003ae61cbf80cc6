// Package onnx runs neural networks from ONNX files, by ONNX Runtime.
//
// ONNX Runtime is a shared library that is loaded when it is asked for: a
// program that uses no network does without it. Loading it takes cgo; built
// without, Open returns an error that says so.
package onnx

import (
	"fmt"
	"strings"
)

// Provider is what computes a network.
type Provider string

// The providers.
const (
	TensorRT Provider = "TensorRT"
	CUDA     Provider = "CUDA"
	CPU      Provider = "CPU"
)

// UnmarshalText reads a provider's name, in any case: cuda.
func (p *Provider) UnmarshalText(text []byte) error {
	for _, known := range []Provider{TensorRT, CUDA, CPU} {
		if strings.EqualFold(string(known), string(text)) {
			*p = known
			return nil
		}
	}
	return fmt.Errorf("there is no provider %q: it is tensorrt, cuda or cpu", text)
}

// Options are how a network is run.
type Options struct {
	// Providers in order of preference. What is not available is skipped. Empty:
	// CUDA, CPU; TensorRT, which takes minutes for each new shape, must be asked for.
	Providers []Provider

	// Threads of a run by the CPU provider. 0: as many as Go uses.
	Threads int
}

// Type is the type of a tensor's numbers.
type Type string

// The types of inputs and outputs. Callers see float32 in either case.
const (
	Float32 Type = "float32"
	Float16 Type = "float16"
)

// Info is an input or output of a network.
type Info struct {
	Name  string `json:"name"`
	Type  Type   `json:"type"`
	Shape []int  `json:"shape"` // -1: any size. nil: not even the number of dimensions is fixed
}

// Fits tells whether a tensor of the shape can be this input or output.
func (i Info) Fits(shape []int) bool {
	if i.Shape == nil {
		return true
	}
	if len(i.Shape) != len(shape) {
		return false
	}
	for n, size := range i.Shape {
		if size != shape[n] && size != -1 {
			return false
		}
	}
	return true
}

// String is for tables and messages: rgb float32 n×3×192×192.
func (i Info) String() string {
	if i.Shape == nil {
		return fmt.Sprintf("%s %s of any shape", i.Name, i.Type)
	}
	return fmt.Sprintf("%s %s %s", i.Name, i.Type, shapeText(i.Shape))
}

func shapeText(shape []int) string {
	sizes := make([]string, len(shape))
	for n, size := range shape {
		sizes[n] = fmt.Sprint(size)
		if size == -1 {
			sizes[n] = "n"
		}
	}
	return strings.Join(sizes, "×")
}

// ModelError is a file that is no model, or none that can be used.
type ModelError struct {
	File   string // its name, without the folder
	Reason string // a sentence's end: "it is cut off"
	Err    error  // what ONNX Runtime said, if it was asked
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("the model %s cannot be used: %s", e.File, e.Reason)
}

func (e *ModelError) Unwrap() error { return e.Err }

// maxElements bounds a tensor: 1 GiB of float32. The largest that the networks
// of this service take is a batch of some hundred faces of 384 × 384 pixels.
const maxElements = 1 << 28

// elements is the number of elements of a tensor, if the shape can be one's.
func elements(shape []int) (int, error) {
	n := 1
	for _, size := range shape {
		if size < 1 || size > maxElements/n {
			return 0, fmt.Errorf("a tensor of %s: sizes begin at 1, and all together multiply to at most %d", shapeText(shape), maxElements)
		}
		n *= size
	}
	return n, nil
}
