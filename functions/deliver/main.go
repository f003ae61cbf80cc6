// Command deliver is the function that delivers events to webhooks.
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
	lambda.Start(sqs.DeliveryHandler(deployment.Service.Deliver, deployment.Metrics.MessagesFailed, deployment.Log))
}
