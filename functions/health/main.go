// Command health is the function behind the endpoints that need no key. It calls no service of AWS.
package main

import (
	"log"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/gateway"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/domain/version"
	"lipsync/internal/http/cors"
	"lipsync/internal/http/rest"
)

func main() {
	service, err := service.New(base.Config{}, base.Ports{})
	if err != nil {
		log.Fatal(err)
	}
	values := settings.Environment(os.Getenv)
	origins := settings.CORSOrigins.In(values)
	if err := values.Err(); err != nil {
		log.Fatal(err)
	}
	logger := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	logger.Info("start", "version", version.String())
	lambda.Start(gateway.Handler(rest.Base, cors.Allow(origins, rest.New(service, rest.Options{Log: logger}))))
}
