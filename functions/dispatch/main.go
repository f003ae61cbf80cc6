// Command dispatch is the function that starts jobs for what waits in the queue.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/cloud"
	"lipsync/internal/cloud/jobs"
	"lipsync/internal/sqs"
)

func main() {
	home, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, jobs.Queue)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(sqs.Handler(home.Service.Dispatch, home.Metrics.MessagesFailed, home.Log))
}
