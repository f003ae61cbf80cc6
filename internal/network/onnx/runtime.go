//go:build cgo

package onnx

import (
	"errors"
	"fmt"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// Runtime is ONNX Runtime, loaded.
type Runtime struct {
	path, version string
}

// loaded is the process's only ONNX Runtime, since the library has global state.
var loaded struct {
	sync.Mutex
	runtime *Runtime
}

// Open loads ONNX Runtime from the shared library at path. If path is empty, it
// searches the usual places: beside the program, in ../lib from there, and the places
// of the system's loader. The library stays loaded until the process ends: a second
// call returns the same Runtime, and another path is an error.
func Open(path string) (*Runtime, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if r := loaded.runtime; r != nil {
		if path != "" && path != r.path {
			return nil, errors.New("another ONNX Runtime is already loaded")
		}
		return r, nil
	}
	path, version, err := find(path)
	if err != nil {
		return nil, err
	}
	ort.SetSharedLibraryPath(path)
	// The library need not print errors, since its calls return them.
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		return nil, fmt.Errorf("ONNX Runtime does not start: %w", err)
	}
	if err := limitMemory(); err != nil {
		return nil, errors.Join(fmt.Errorf("ONNX Runtime does not start: %w", err), ort.DestroyEnvironment())
	}
	loaded.runtime = &Runtime{path: path, version: version}
	return loaded.runtime, nil
}

// maxMemory bounds the memory of the computer, in bytes, that all networks together
// take. A network that asks for more fails, and the process goes on.
const maxMemory = 8 << 30

// limitMemory gives the networks one allocator, which maxMemory bounds. The allocator
// asks the system for no more than is needed, and keeps its memory for the next network.
func limitMemory() error {
	const sameAsRequested = 1
	arena, err := ort.NewArenaCfgV2(map[string]int{"max_mem": maxMemory, "arena_extend_strategy": sameAsRequested})
	if err != nil {
		return err
	}
	defer arena.Destroy()
	place, err := ort.GetMemoryInfo()
	if err != nil {
		return err
	}
	return ort.CreateAndRegisterAllocator(place, arena)
}

// Version returns the version of the library, such as 1.24.4.
func (r *Runtime) Version() string { return r.version }
