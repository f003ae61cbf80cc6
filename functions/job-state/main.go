// Command job-state is the function that is told of failed jobs.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/batch"
	"lipsync/internal/cloud"
)

func main() {
	home, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, cloud.Media)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(batch.Handler(home.Service.JobFailed, home.Log))
}
