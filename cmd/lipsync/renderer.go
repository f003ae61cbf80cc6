package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/render"
	"lipsync/internal/studio"
)

// renderFlags are the options of what renders.
type renderFlags struct {
	modelFlags
	Engine string `default:"warp" enum:"warp,wav2lip" env:"LIPSYNC_ENGINE" placeholder:"NAME" help:"What makes the mouths, unless a request names it: warp, or wav2lip where there is such a model (default: ${default})."`
	NVIDIA bool   `name:"nvidia" env:"LIPSYNC_NVIDIA" help:"Decode and encode pictures on an NVIDIA GPU."`
}

// open loads the models for jobs that use a number of cores each.
func (f renderFlags) open(ctx context.Context, cores int, limits render.Limits) (*studio.Studio, error) {
	tools, err := ffmpeg.Find(cores)
	if err != nil {
		return nil, err
	}
	if tools.NVIDIA = f.NVIDIA; f.NVIDIA {
		if err := tools.CheckNVIDIA(ctx); err != nil {
			return nil, err
		}
	}
	return studio.Open(studio.Options{Tools: tools, Limits: limits, Cores: cores, Models: f.folder(), Library: f.ONNXRuntime})
}

// folder is where the models are, "" for none: the default folder may be missing.
func (f modelFlags) folder() string {
	if _, err := os.Stat(f.Models); f.Models == defaultModels() && errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return f.Models
}

func defaultModels() string { return filepath.Join(defaultData(), "models") }
