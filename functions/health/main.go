// Command health is the function behind the endpoints that need no key. It uses nothing
// of AWS.
package main

import (
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"lipsync/internal/gateway"
	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
	"lipsync/internal/version"
)

func main() {
	service := &lipsync.Service{Now: time.Now, NewID: uuid.NewString}
	origins := strings.Split(os.Getenv("LIPSYNC_CORS_ORIGINS"), ",")
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	log.Info("start", "version", version.String())
	lambda.Start(gateway.Handler(rest.AllowOrigins(origins, rest.New(service, rest.Options{Log: log}))))
}
