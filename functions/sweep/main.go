// Command sweep is the function that runs each minute. It finds lost requests, starts runners, makes
// requests of batches, and deletes expired uploads.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/jobs"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout,
		cloud.Records, media.Kept, cloud.Demand, jobs.Pool, cloud.Engines, cloud.Provenance, cloud.Sizes, cloud.Limits, cloud.Retention, messages.Queue, messages.Deliveries)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(deployment.Service.Sweep)
}
