// Package engines prepares rendering on one machine: it opens the engines, a detector of
// faces, and a network that finds the speaker. Each network is loaded once, for all jobs.
// Without models, the networks of package eyes detect faces, and warp is the only engine.
package engines

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"

	"lipsync/internal/domain/version"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/musetalk"
	"lipsync/internal/render/people"
	"lipsync/internal/render/warp"
)

// Options say how a machine renders.
type Options struct {
	Limits    intake.Limits
	Cores     int             // processor cores that one job uses, at least 1
	NVIDIA    bool            // an NVIDIA GPU encodes, where it can
	Models    string          // folder of models; "" for none
	Library   string          // file of ONNX Runtime; "" for the usual places
	Providers []onnx.Provider // as in onnx.Options
	Log       *slog.Logger    // gets the models that are used, and the reasons why others aren't
}

// Set is the engines of one machine. It renders any number of jobs at once.
type Set struct {
	*render.Renderer
	Tools     *ffmpeg.Tools // the renderer's Media
	Lacks     bool          // a model of the folder could not be loaded
	log       *slog.Logger
	models    string // those that are used: their roles, sums and providers, for the basis
	faces     detection.Detector
	detector  *onnx.Session   // of faces; nil: none
	landmarks []*onnx.Session // of faces
	muse      parts
	networks  []func() error // functions that close engines, and then their sessions
}

// Open opens the engines and loads the models. A model that can't be used is logged and
// left out: jobs that don't need it go on, and jobs for its engine fail.
func Open(ctx context.Context, o Options) (*Set, error) {
	tools, err := ffmpeg.Find(o.Cores)
	if err != nil {
		return nil, err
	}
	if o.NVIDIA {
		tools.UseNVIDIA(ctx, o.Log)
	}
	s, err := bare(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	s.Tools, s.Media, s.Limits = tools, tools, o.Limits
	s.Engines["warp"] = warp.Engine{Cores: o.Cores}
	if o.Models != "" {
		s.addAll(ctx, o)
	}
	s.Basis = sync.OnceValue(func() string {
		program, err := version.Program()
		if err != nil {
			o.Log.Warn("no findings and pieces are kept: the file of this program can't be read", "error", err)
			return ""
		}
		return program + s.models
	})
	if runtime.GOOS != "linux" { // there the file may be exchanged while the program runs: see version.Program
		s.Basis()
	}
	if err := ctx.Err(); err != nil { // then models weren't to blame
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// bare returns a set without engines and models.
func bare(ctx context.Context, log *slog.Logger) (*Set, error) {
	faces, err := detection.New(ctx, log, nil, nil)
	if err != nil {
		return nil, err
	}
	s := &Set{Renderer: &render.Renderer{Engines: map[string]engine.Engine{}}, log: log, faces: faces}
	s.muse.parts = map[catalog.Role]*musetalk.Part{}
	s.NewTracker = func(fps float64) people.Tracker { return tracking.NewTracker(s.faces, fps) }
	s.ReadLips = func(ctx context.Context, frame *image.YCbCr, near detection.Face) (detection.Face, bool, error) {
		return s.faces.LocateMouth(ctx, frame, near)
	}
	return s, nil
}

// Names returns the names of the engines that can be used, beginning with first. It returns
// an error if first can't be used.
func (s *Set) Names(first string) ([]string, error) {
	if u, ok := s.Engines[first].(unusable); ok {
		return nil, fmt.Errorf("the engine %s cannot be used: %w", first, u.error)
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Engines)), func(name string) bool {
		_, ok := s.Engines[name].(unusable)
		return ok
	})
	i := slices.Index(names, first)
	if i < 0 && first == "musetalk" {
		return nil, fmt.Errorf("there is no engine musetalk: %w", musetalk.Missing(musetalk.Roles()...))
	}
	if i < 0 {
		return nil, fmt.Errorf("there is no engine %s: add its model with lipsync models add %[1]s FILE", first)
	}
	return append([]string{first}, slices.Delete(names, i, i+1)...), nil
}

// Close frees the models, once no job runs.
func (s *Set) Close() error {
	err := s.faces.Close()
	for _, end := range s.networks {
		err = errors.Join(err, end())
	}
	return err
}
