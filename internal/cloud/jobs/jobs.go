// Package jobs gives programs on AWS the job queue of Batch. Only those link the SDK's
// client of Batch that import it.
package jobs

import (
	"lipsync/internal/batch"
	"lipsync/internal/cloud"
	"lipsync/internal/settings"
)

// Pool is the runners. The home has to have Demand.
func Pool(h *cloud.Home) {
	h.Service.Pool = batch.New(h.Config, settings.JobQueue.In(h.Settings), settings.JobDefinition.In(h.Settings))
	h.Service.MaxWorkers = settings.MaxWorkers.In(h.Settings)
}
