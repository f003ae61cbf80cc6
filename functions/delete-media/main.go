// Command delete-media is the function behind DELETE /v1/lipsync/requests/{id}/media.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/cloud"
	"lipsync/internal/gateway"
)

func main() {
	home, err := cloud.New(context.Background(), os.Getenv, os.Stdout, cloud.Records, cloud.Media, cloud.Reading)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(home.API()))
}
