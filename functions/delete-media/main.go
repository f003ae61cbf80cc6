// Code generated from the tables in internal/http/rest/endpoints.go and infra/stack/needs.go by go generate; DO NOT EDIT.

// Command delete-media is the function behind DELETE /v1/lipsync/requests/{id}/media, DELETE /v1/lipsync/requests/{id}/record, DELETE /v1/lipsync/records.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/http/rest"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Origins, cloud.Reading, cloud.Records, media.Kept)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(rest.Base, deployment.API()))
}
