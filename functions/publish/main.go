// Command publish is the function that puts the events of all accounts on the operator's bus of EventBridge.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/bus"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/store/dynamodb"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, media.Signed, bus.Events, cloud.Retention)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(dynamodb.StreamHandler(deployment.Service.Publish, deployment.Metrics.MessagesFailed, deployment.Log))
}
