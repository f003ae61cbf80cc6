// Command sweep is the function that runs each minute. It finds lost requests, starts runners, makes
// requests of batches, and deletes expired uploads.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, parts...)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(deployment.Service.Sweep)
}
