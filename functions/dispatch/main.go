// Command dispatch is the function that starts runners when requests begin to wait.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/sqs"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, parts...)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(sqs.Handler(deployment.Service, deployment.Metrics.MessagesFailed, deployment.Log))
}
