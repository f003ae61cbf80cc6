package onnx

import (
	"errors"
	"testing"
)

// TestExplain checks which errors of ONNX Runtime mean that memory is missing.
func TestExplain(t *testing.T) {
	for text, want := range map[string]bool{
		"CUDA failure 2: out of memory ; GPU=0 ; hostname=a ; expr=cudaMalloc((void**)&p, size);":                               true,
		"CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0 ; expr=cublasCreate(&cublas_handle_);":                            true,
		"Non-zero status code returned while running Conv node. Failed to allocate memory for requested buffer of size 1048576": true,
		"Available memory of 8589934592 is smaller than requested bytes of 10000000000":                                         true,
		"CUDA failure 700: an illegal memory access was encountered ; GPU=0":                                                    false,
		"CUDA failure 209: no kernel image is available for execution on the device":                                            false,
		"Got invalid dimensions for input: a":                                                                                   false,
	} {
		cause := errors.New(text)
		err := explain(cause)
		if got := errors.Is(err, ErrMemory); got != want || !errors.Is(err, cause) {
			t.Errorf("%s: got %v (%v), want %v", text, got, err, want)
		}
	}
}
