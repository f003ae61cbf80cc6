// Package operator makes the config of a service of what its operator has set.
package operator

import (
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
)

//go:generate go run ./limits ../../..

// Settings are the settings of a service, under the names that they have in package settings.
type Settings struct {
	GenerateRate      int
	ReadRate          int
	MaxOpenRequests   int
	MaxStored         settings.Size
	MaxKeys           int
	KeepInputs        time.Duration
	KeepOutputs       time.Duration
	KeepFindings      time.Duration
	KeepRecords       time.Duration
	MaxVideo          settings.Size
	MaxAudio          settings.Size
	RequireProvenance bool
	MaxDuration       time.Duration
	MaxSide           int
	MaxFPS            float64 `name:"max-fps"`
	MaxGigapixels     float64
}

// Config returns the config of a program with the settings: the rates, sizes, limits and retention, and whether provenance is required. The engines, the
// workers and their duty, and the bounds of findings and pieces are the program's own.
func (s Settings) Config(own base.Config) base.Config {
	own.GenerateRate, own.ReadRate, own.MaxVideo, own.MaxAudio = s.GenerateRate, s.ReadRate, int64(s.MaxVideo), int64(s.MaxAudio)
	own.RequireProvenance = s.RequireProvenance
	own.Limits = lipsync.Limits{
		Open: s.MaxOpenRequests, Stored: int64(s.MaxStored), Keys: s.MaxKeys,
		Keep: lipsync.Retention{Inputs: s.KeepInputs, Outputs: s.KeepOutputs, Findings: s.KeepFindings, Records: s.KeepRecords},
	}
	return own
}
