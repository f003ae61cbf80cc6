// Command mcp is the function behind /mcp: the tools of assistants.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/http/agents"
	"lipsync/internal/http/client"
	"lipsync/internal/http/rest"
)

func main() {
	deployment, err := cloud.New(cloud.Config(os.Getenv), os.Getenv, os.Stdout, parts...)
	if err != nil {
		log.Fatal(err)
	}
	tools := agents.Handler(deployment.API(), agents.Options{Sleep: client.Pause, NewID: uuid.NewString, Whole: true})
	lambda.Start(gateway.Handler(rest.Base, tools))
}
