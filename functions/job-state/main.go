// Command job-state is the function that is told of failed jobs.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/batch"
	"lipsync/internal/cloud"
	"lipsync/internal/cloud/media"
)

func main() {
	home, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, media.Kept)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(batch.Handler(home.Service.JobFailed, home.Log))
}
