// Code generated from the tables in internal/http/rest/endpoints.go and infra/stack/needs.go by go generate; DO NOT EDIT.

// Command get-progress is the function behind GET /v1/lipsync/requests/{id}/progress.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/http/rest"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Origins, cloud.Reading, cloud.Records, cloud.Workers)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(rest.Base, deployment.API()))
}
