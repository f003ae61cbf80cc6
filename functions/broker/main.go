// Command broker is the function by which runners do requests. It reads and changes records for them, and gives them sessions for media.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/broker"
	"lipsync/internal/aws/cloud"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, parts...)
	if err != nil {
		log.Fatal(err)
	}
	sessions := broker.NewSessions(deployment.Config, deployment.MediaRole, deployment.Bucket)
	lambda.Start(broker.Handler(deployment.Service, deployment.Table.Queue, sessions, deployment.Log))
}
