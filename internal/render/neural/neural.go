// Package neural is what engines with networks that paint faces have in common. Such a network sees a part of a face with its
// lower half hidden, the same part as it is, and the sound of one frame, and paints the part as it says that sound. What it
// painted is laid on the frame by a soft mask, in the frame's colours, and only where it differs from what the frame shows.
package neural

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"lipsync/internal/domain/order"
	"lipsync/internal/network/batch"
	"lipsync/internal/render/engine"
)

// Network is a network that paints faces. Its first output is the painted part of a face: three planes from 0 to 1.
type Network struct {
	batch.Network
	View View
	// Pictures and Sound are the indices of its inputs. A face has six planes of pictures: first those of the view with its lower
	// half hidden, then those of the view as it is.
	Pictures, Sound int
	BGR             bool    // the planes are blue, green and red, and not red, green and blue
	Black           float32 // value of black in pictures, and of all that is hidden; white is 1
	Sounds          int     // numbers of the sound of a frame
	// Hear returns the speech of one job, by its samples and the frames a second of its output.
	Hear func(samples *io.SectionReader, fps float64) Speech
}

// Speech is the speech of one job.
type Speech interface {
	// Fill fills sound with what the network hears in a frame of the output. Calls are concurrent, and for frames in any order.
	Fill(ctx context.Context, sound []float32, frame int) error
}

// Engine is an engine.Engine. All jobs share one network: a batch can have faces of several jobs.
type Engine struct {
	network Network
	mask    *mask // at its usual size
	queue   *batch.Queue
	free    chan *buffers // unused buffers
}

// New returns the engine of a network. New tries the network with as many runs at once as in jobs. If there is too little memory,
// batches are made smaller, and a warning is logged.
func New(ctx context.Context, n Network, log *slog.Logger) (*Engine, error) {
	queue, err := batch.New(ctx, n.Network, log)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	return &Engine{network: n, mask: newMask(n.View, order.Mask{}), queue: queue, free: make(chan *buffers, queue.Together())}, nil
}

// Close ends all runs and waits, and frees the engine's memory.
func (e *Engine) Close() error { return e.queue.Close() }

// Workers returns the number of calls of Paint at once that keeps the network busy.
func (e *Engine) Workers() int { return e.queue.Together() }

// Articulates returns false, since the network gets the samples themselves.
func (e *Engine) Articulates() bool { return false }

var _ engine.Engine = (*Engine)(nil)

func (e *Engine) Analyse(v engine.Video) (engine.Analyser, error) {
	return &analyser{engine: e, fps: v.FPS, tracks: map[int]*track{}}, nil
}
