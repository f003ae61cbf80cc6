package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"lipsync/cmd/lipsync/internal/models"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/intake"
)

// renderFlags are the options of commands that render.
type renderFlags struct {
	models.Flags
	Engine       string
	NVIDIAEncode bool `name:"nvidia-encode"`
}

// open loads the models for jobs that each use a number of cores.
func (f renderFlags) open(ctx context.Context, cores int, limits intake.Limits, log *slog.Logger) (*engines.Set, error) {
	return engines.Open(ctx, engines.Options{
		Limits: limits, Cores: cores, NVIDIA: f.NVIDIAEncode,
		Models: f.folder(), Library: f.ONNXRuntime, Providers: f.Providers, Log: log,
	})
}

// usesGPU tells whether networks may run on an NVIDIA GPU.
func (f renderFlags) usesGPU() bool {
	onCPU := len(f.Providers) > 0 && f.Providers[0] == onnx.CPU
	return f.folder() != "" && !onCPU && onnx.HasGPU()
}

// folder returns the folder of models, "" if there are none: the default folder may be missing.
func (f renderFlags) folder() string {
	if _, err := os.Stat(filepath.Join(f.Models, catalog.FileName)); f.Models == defaultModels() && errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return f.Models
}

func defaultModels() string { return filepath.Join(defaultData(), "models") }
