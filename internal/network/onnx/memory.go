package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrMemory is the error of a run for which the GPU, or the memory that all networks
// share on the CPU, was too small. A run of a smaller batch may succeed.
var ErrMemory = errors.New("too little memory")

// explain adds ErrMemory to an error of ONNX Runtime that has this cause. ONNX Runtime
// has no code for it, so explain reads the text.
func explain(err error) error {
	texts := []string{
		"out of memory", "CUDA error 2", "CUDA failure 2:", "CUBLAS_STATUS_ALLOC_FAILED", // of CUDA
		"Failed to allocate memory", "is smaller than requested bytes", // of ONNX Runtime's arenas
	}
	text := err.Error()
	if !slices.ContainsFunc(texts, func(part string) bool { return strings.Contains(text, part) }) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrMemory, err)
}
