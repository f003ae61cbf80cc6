// Command dashboard is the function behind /dashboard and all paths below it.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/aws/cloud/pages"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/http/rest"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout,
		cloud.Records, media.Signed, messages.Queue, messages.Deliveries, cloud.Generating, cloud.Reading, cloud.Sizes, cloud.Limits, cloud.Retention, cloud.Workers)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := pages.New(context.Background(), deployment)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(rest.Base, handler))
}
