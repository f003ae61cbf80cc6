// Package jobs gives programs on AWS the job queue of Batch. Only those link the SDK's
// client of Batch that import it.
package jobs

import (
	"lipsync/internal/batch"
	"lipsync/internal/cloud"
)

// Pool is the runners. The home has to have Demand.
func Pool(h *cloud.Home) {
	h.Service.Pool = batch.New(h.Config, h.Settings.Text("LIPSYNC_JOB_QUEUE"), h.Settings.Text("LIPSYNC_JOB_DEFINITION"))
	h.Service.MaxWorkers = h.Settings.Number("LIPSYNC_MAX_WORKERS")
}
