// Command sweep is the function that runs each minute, and finds what is lost or
// over.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/cloud"
)

func main() {
	home, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, cloud.Media, cloud.Messages, cloud.Retention)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(home.Service.Sweep)
}
