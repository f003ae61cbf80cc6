// Package jobs gives programs on AWS the job queue of Batch, and the function of small requests. Only programs that import it link the
// SDK's client of Batch.
package jobs

import (
	"lipsync/internal/aws/batch"
	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/invoke"
	"lipsync/internal/domain/settings"
)

// Pool adds the pool of runners, and that of small workers, unless the setting is 0. The deployment must have Records and Demand.
func Pool(d *cloud.Deployment) {
	d.Ports.Pool = batch.New(d.Config, settings.JobQueue.In(d.Settings), settings.JobDefinition.In(d.Settings))
	d.Workers, d.SmallWorkers = settings.MaxWorkers.In(d.Settings), settings.SmallWorkers.In(d.Settings)
	if function := settings.SmallFunction.In(d.Settings); d.SmallWorkers > 0 {
		d.Ports.SmallPool = invoke.New(d.Config, function, d.Table, d.Ports.Now)
	}
}
