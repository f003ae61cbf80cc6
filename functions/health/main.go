// Command health is the function behind GET /health and GET /openapi.yaml. It
// uses nothing of AWS.
package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"lipsync/internal/gateway"
	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
)

func main() {
	service := &lipsync.Service{Now: time.Now, NewID: uuid.NewString}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	lambda.Start(gateway.Handler(rest.New(service, rest.Options{Log: log})))
}
