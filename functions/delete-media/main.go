// Command delete-media is the function behind DELETE /v1/lipsync/requests/{id}/media.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/cloud"
	"lipsync/internal/cloud/media"
	"lipsync/internal/gateway"
)

func main() {
	home, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Records, media.Kept, cloud.Reading, cloud.Origins)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(home.API()))
}
