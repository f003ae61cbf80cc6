// Package operator makes the config of a service of what its operator has set.
package operator

import (
	"time"

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
}

// Config returns the config of a service that offers the engines, and has a number of workers.
func (s Settings) Config(engines []string, workers int) lipsync.Config {
	return lipsync.Config{
		Engines: engines, Workers: workers, GenerateRate: s.GenerateRate, ReadRate: s.ReadRate,
		MaxVideo: int64(s.MaxVideo), MaxAudio: int64(s.MaxAudio), RequireProvenance: s.RequireProvenance,
		Limits: lipsync.Limits{
			Open: s.MaxOpenRequests, Stored: int64(s.MaxStored), Keys: s.MaxKeys,
			Keep: lipsync.Retention{Inputs: s.KeepInputs, Outputs: s.KeepOutputs, Findings: s.KeepFindings, Records: s.KeepRecords},
		},
	}
}
