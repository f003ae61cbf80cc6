// Code generated from the tables in internal/http/rest/endpoints.go and infra/stack/needs.go by go generate; DO NOT EDIT.

// Command webhooks is the function behind POST /v1/webhooks, GET /v1/webhooks, GET /v1/webhooks/{id}, DELETE /v1/webhooks/{id}, POST /v1/webhooks/{id}/rotate, POST /v1/webhooks/{id}/enable, POST /v1/webhooks/{id}/test, POST /v1/webhooks/{id}/redeliver, GET /v1/webhooks/{id}/deliveries, POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/http/rest"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, cloud.Origins, cloud.Reading, cloud.Records, messages.Deliveries)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(gateway.Handler(rest.Base, deployment.API()))
}
