// Package wav2lip is the engine for networks of the Wav2Lip family (Prajwal, Mukhopadhyay, Namboodiri and Jawahar, "A Lip Sync
// Expert Is All You Need", ACM Multimedia 2020), as ONNX models.
//
// The network's inputs are a face with its lower half hidden, the same face as it is, and 0.2 s of sound. Its output is the
// face as it says that sound. export/export.py makes such a model from the published checkpoint, and export/verify.py compares
// the two.
package wav2lip

import (
	"context"
	"log/slog"
	"runtime"

	"lipsync/internal/network/onnx"
	"lipsync/internal/render/neural"
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

// view is the box of a face detector, as in the published code, and a little below the chin. On talking heads, the boxes of a
// detector that was trained on the same faces as the published one reach from (.25, -.70) to (2.13, 2.12).
var view = neural.View{Left: .25, Top: -.70, Right: 2.13, Bottom: 2.25}

// New returns an engine with the model of a session, which must stay open until the engine is closed. New tries the model with as
// many runs at once as in jobs. If there is too little memory, batches are made smaller, and a warning is logged.
func New(ctx context.Context, session *onnx.Session, log *slog.Logger) (*neural.Engine, error) {
	most := onGPU
	if session.Provider() == onnx.CPU {
		most = cpuBatch(session.InputSize())
	}
	m, err := newModel(session, most)
	if err != nil {
		return nil, err
	}
	return neural.New(ctx, m, log)
}
