// Package onnx runs neural networks from ONNX files with ONNX Runtime.
//
// ONNX Runtime is a shared library, which Open loads. A program that uses no network
// does not need it. Loading it takes cgo: in a program that was built without cgo,
// Open returns an error that says so.
package onnx

import (
	"fmt"
	"strings"

	"lipsync/internal/network/vet"
)

// Provider is a part of ONNX Runtime that computes networks on one kind of hardware.
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

// Options are the options of a network's runs.
type Options struct {
	// Providers are in order of preference. Those that are not available are skipped.
	// If there are none, they are CUDA and CPU. TensorRT must be asked for: it takes
	// minutes for each new shape.
	Providers []Provider

	// Threads is the number of threads of one run by the CPU provider. 0 is GOMAXPROCS.
	Threads int

	// GPUMemory bounds the memory, in bytes, that the network takes on a GPU with
	// CUDA. 0 is no limit. A network that needs more fails with ErrMemory.
	GPUMemory int64

	// EngineCache is the path of a folder for the engines that TensorRT compiles, which
	// is made if it is missing. If it is "", each session compiles its own.
	EngineCache string

	// channelsLast makes CUDA keep the channels of a pixel side by side. That is faster for models with nodes of their own for it.
	channelsLast bool
}

// Info is an input or an output of a network. Callers of this package see its
// numbers as float32, whatever its Type is.
type Info = vet.Info

// Type is the type of a tensor's numbers.
type Type = vet.Type

// The types that inputs and outputs can have.
const (
	Float32 = vet.Float32
	Float16 = vet.Float16
)

// ModelError is the error of a file that is no model, or a model that can't be used.
type ModelError struct {
	File   string // its name, without the folder
	Reason string // the end of a sentence: "it is incomplete"
	Err    error  // the cause, if there is one
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("the model %s cannot be used: %s", e.File, e.Reason)
}

func (e *ModelError) Unwrap() error { return e.Err }
