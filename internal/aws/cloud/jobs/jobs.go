// Package jobs gives programs on AWS the job queues of Batch, and the function of small requests. Only programs that import it link the
// SDK's client of Batch.
package jobs

import (
	"lipsync/internal/aws/batch"
	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/invoke"
	"lipsync/internal/domain/settings"
)

// Pool adds the pool of runners, and those of small workers and of runners with a GPU, unless the settings are 0. The deployment must have Records and Demand.
func Pool(d *cloud.Deployment) {
	d.Ports.Pool = batch.New(d.Config, settings.JobQueue.In(d.Settings), settings.JobDefinition.In(d.Settings))
	cloud.Pools(d)
	if queue, definition := settings.NeuralQueue.In(d.Settings), settings.NeuralDefinition.In(d.Settings); d.Own.NeuralWorkers > 0 {
		d.Ports.NeuralPool = batch.New(d.Config, queue, definition)
	}
	if function := settings.SmallFunction.In(d.Settings); d.Own.SmallWorkers > 0 {
		d.Ports.SmallPool = invoke.New(d.Config, function, d.Table.Queue, d.Ports.Now)
	}
}
