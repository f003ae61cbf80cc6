// Package wav2lip is the engine for networks of the Wav2Lip family (Prajwal, Mukhopadhyay, Namboodiri and Jawahar, "A Lip Sync
// Expert Is All You Need", ACM Multimedia 2020), as ONNX models.
//
// The network's inputs are a face with its lower half hidden, the same face as it is, and 0.2 s of sound. Its output is the
// face as it says that sound. export/export.py makes such a model from the published checkpoint, and export/verify.py compares
// the two.
package wav2lip

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"

	"lipsync/internal/domain/order"
	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
)

// mostRuns bounds the number of runs of the network that the CPU computes at once. Each run
// takes memory of its own.
const mostRuns = 8

// These constants define the number of faces in a batch.
const (
	mostOnCPU = 4   // largest number on a CPU: more are no faster
	fullSize  = 128 // size of a face, pixels: on a CPU, batches of larger faces have fewer of them
	onGPU     = 16
)

// cpuBatch returns the number of faces in a batch on the CPU, for faces of size × size pixels. The memory of a run grows with
// the area of a face, and is 0.4 GB for each face of 384 pixels. mostRuns runs together must fit in the memory that package onnx
// allows all networks.
func cpuBatch(size int) int {
	return min(mostOnCPU, max(1, mostOnCPU*fullSize*fullSize/max(1, size*size)))
}

// Threads returns the best onnx.Options.Threads for the network. The CPU is used better
// by many runs with few threads than by one run whose threads wait for each other.
func Threads() int { return (runtime.GOMAXPROCS(0) + mostRuns - 1) / mostRuns }

// Engine is a render.Engine. All jobs share one network: a batch can have faces of several jobs.
type Engine struct {
	model model
	mask  *mask // at its usual size
	queue *batch.Queue
	free  chan *buffers // unused buffers
}

// New returns an engine with the model of a session, which must stay open until the engine is closed. New tries the model with as
// many runs at once as in jobs. If there is too little memory, batches are made smaller, and a warning is logged.
func New(ctx context.Context, session *onnx.Session, log *slog.Logger) (*Engine, error) {
	most := onGPU
	if session.Provider() == onnx.CPU {
		most = cpuBatch(session.InputSize())
	}
	return newEngine(ctx, session, most, log)
}

// newEngine returns an engine. most is the number of faces of its batches, unless the model fixes another. If batches are large,
// there are fewer runs at once, since otherwise batches would be nearly empty.
func newEngine(ctx context.Context, session *onnx.Session, most int, log *slog.Logger) (*Engine, error) {
	m, err := newModel(session.Inputs(), session.Outputs(), most)
	if err != nil {
		return nil, err
	}
	m.Padded = session.Provider() != onnx.CPU
	m.Runs = min(batch.Runs(session), max(1, mostRuns*cpuBatch(m.size)/m.Most))
	m.Bind = func(ctx context.Context, n int) (batch.Binding, error) { return m.bind(ctx, session, n) }
	return start(ctx, m, log)
}

// start returns an engine with a model, after it has tried the model.
func start(ctx context.Context, m model, log *slog.Logger) (*Engine, error) {
	queue, err := batch.New(ctx, m.Network, log)
	if err != nil {
		return nil, fmt.Errorf("wav2lip: %w", err)
	}
	return &Engine{model: m, mask: newMask(m.size, order.Mask{}), queue: queue, free: make(chan *buffers, queue.Together())}, nil
}

// Close ends all runs and waits, and frees the engine's memory.
func (e *Engine) Close() error { return e.queue.Close() }

// Workers returns the number of calls of Paint at once that keeps the network busy.
func (e *Engine) Workers() int { return e.queue.Together() }

// Articulates implements render.Engine. It returns false, since the network gets the samples themselves.
func (e *Engine) Articulates() bool { return false }

var _ render.Engine = (*Engine)(nil)

func (e *Engine) Analyse(v render.Video) (render.Analyser, error) {
	return &analyser{engine: e, fps: v.FPS, tracks: map[int]*track{}}, nil
}
