// Package musetalk is the engine for networks of MuseTalk 1.5 (Zhang et al., "MuseTalk: Real-Time High-Fidelity Video Dubbing via
// Spatio-Temporal Sampling", 2024), as four ONNX models.
//
// The encoder makes latents of a face with its lower half hidden, and of the same face as it is. The network itself makes of them,
// and of .2 s of sound, the latent of the face as it says that sound, in one step. The decoder makes a picture of it. The sound is
// that which the network for hearing, the encoder of Whisper, makes of the speech.
package musetalk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/neural"
)

// These constants define the number of faces in a batch.
const (
	onCPU = 1  // more take as long for each face
	onGPU = 16 // with half as many, the network itself makes three quarters of the faces
)

// view is as large as the boxes that the published code makes of landmarks. In the mean of 14 people they reach from .09 to 2.31,
// and down to the chin at 2.22. Their upper edge lies so far above the bridge of the nose, .755, as the chin lies below it. The lower
// edge lies some pixels below the chin, as in the network's training.
var view = neural.View{Left: .09, Top: -.71, Right: 2.31, Bottom: 2.32, Size: side, Sharp: true}

// Engine is an engine.Engine.
type Engine struct {
	*neural.Engine
	hearing *hearing
}

// New returns an engine with a part for each of Roles. Their sessions must stay open until the engine is closed. New tries the
// parts together, as in jobs. If there is too little memory, batches are made smaller, and a warning is logged.
func New(ctx context.Context, parts map[catalog.Role]*Part, log *slog.Logger) (*Engine, error) {
	if missing := slices.DeleteFunc(Roles(), func(role catalog.Role) bool { return parts[role] != nil }); len(missing) > 0 {
		return nil, Missing(missing...)
	}
	ears, network := parts[catalog.MuseTalkHearing], parts[catalog.MuseTalk]
	if ears.width != network.width {
		return nil, fmt.Errorf("musetalk: the model of the role %s takes states of %d numbers, and that of the role %s makes states of %d",
			network.role, network.width, ears.role, ears.width)
	}
	h, err := newHearing(ctx, ears, log)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	e, err := neural.New(ctx, chained(parts, h), log)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	if !onGPUs(parts) {
		log.Warn(Slow, "frame_takes", time.Since(began).Round(time.Millisecond))
	}
	return &Engine{e, h}, nil
}

// Slow is the warning of an engine that no GPU computes.
const Slow = "musetalk is slow, since not all of its models run on a GPU"

// Missing returns the error of an engine that lacks the parts of one role or more.
func Missing(roles ...catalog.Role) error {
	if len(roles) == 1 {
		return fmt.Errorf("musetalk has no model of the role %s: add one with lipsync models add %[1]s FILE", roles[0])
	}
	list := string(roles[0])
	for _, role := range roles[1:] {
		list += ", " + string(role)
	}
	return fmt.Errorf("musetalk has no models of the roles %s: add each with lipsync models add ROLE FILE", list)
}

// Close ends all runs and waits, and frees the engine's memory.
func (e *Engine) Close() error { return errors.Join(e.Engine.Close(), e.hearing.Close()) }

// onGPUs tells whether a GPU computes all that a frame takes.
func onGPUs(parts map[catalog.Role]*Part) bool {
	for _, role := range chain {
		if parts[role].session.Provider() == onnx.CPU {
			return false
		}
	}
	return true
}

// chained returns the network that encoder, network and decoder are together.
func chained(parts map[catalog.Role]*Part, h *hearing) neural.Network {
	n := neural.Network{
		Network: batch.Network{
			Name: "musetalk", Most: onCPU, Runs: 1,
			Bind: func(ctx context.Context, faces int) (batch.Binding, error) { return link(ctx, parts, faces) },
		},
		View: view, Pictures: 0, Sound: 1, Black: -1, Sounds: window * h.step,
		Hear: func(samples *io.SectionReader, fps float64) neural.Speech { return h.listen(samples, fps) },
	}
	if onGPUs(parts) {
		n.Most, n.Padded = onGPU, true
		n.Runs = 2 // the numbers of one batch are converted and copied while the GPU works on another
	}
	return n
}
