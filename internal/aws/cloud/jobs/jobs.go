// Package jobs gives programs on AWS the job queue of Batch. Only programs that import it link the
// SDK's client of Batch.
package jobs

import (
	"lipsync/internal/aws/batch"
	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/settings"
)

// Pool adds the pool of runners. The deployment must have Demand.
func Pool(d *cloud.Deployment) {
	d.Ports.Pool = batch.New(d.Config, settings.JobQueue.In(d.Settings), settings.JobDefinition.In(d.Settings))
	d.Workers = settings.MaxWorkers.In(d.Settings)
}
