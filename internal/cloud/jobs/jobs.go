// Package jobs gives programs on AWS the job queue of Batch. Only those link the SDK's
// client of Batch that import it.
package jobs

import (
	"lipsync/internal/batch"
	"lipsync/internal/cloud"
)

// Queue starts runners.
func Queue(h *cloud.Home) {
	h.Service.Jobs = batch.New(h.Config, h.Settings.Text("LIPSYNC_JOB_QUEUE"), h.Settings.Text("LIPSYNC_JOB_DEFINITION"))
}
