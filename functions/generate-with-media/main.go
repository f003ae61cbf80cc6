// Command generate-with-media is the function behind POST /v1/lipsync/generate-with-media.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/cloud"
	"lipsync/internal/cloud/media"
	"lipsync/internal/cloud/messages"
	"lipsync/internal/gateway"
)

func main() {
	home, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, media.Kept, messages.Queue, cloud.Generating, cloud.Sizes, cloud.Limits, cloud.Retention, cloud.Origins)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(home.API()))
}
