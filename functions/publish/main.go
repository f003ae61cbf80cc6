// Command publish is the function that puts the events of all accounts on the operator's bus of EventBridge.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/store/dynamodb"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, parts...)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(dynamodb.StreamHandler(deployment.Service.Publish, deployment.Metrics.MessagesFailed, deployment.Log))
}
