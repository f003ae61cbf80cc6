// Command generate is the function behind POST /v1/lipsync/generate.
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
	home, err := cloud.New(context.Background(), os.Getenv, os.Stdout, cloud.Records, cloud.Media, cloud.Messages, cloud.Generating, cloud.Sizes, cloud.Limits, cloud.Retention)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(home.API()))
}
