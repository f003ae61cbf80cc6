// Command deliver is the function that delivers events to webhooks.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/aws/cloud/posts"
	"lipsync/internal/aws/sqs"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, media.Signed, messages.Deliveries, posts.Client, cloud.Retention)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(sqs.DeliveryHandler(deployment.Service.Deliver, deployment.Metrics.MessagesFailed, deployment.Log))
}
