// Package awsclient corrects the HTTP client of the AWS SDK for Go.
package awsclient

import (
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// KeepAnswers adds to a configuration, for all clients that are made with it, a fix for servers that
// answer before the body of the request was sent whole. It sets the SDK's HTTP client if there is
// none.
//
// The SDK closes a request's body once there is an answer. If net/http only then looks for the
// body's end, it calls the body's WriteTo, which returns io.EOF instead of nil (smithy-go 1.28.8 and
// 1.28.9, transport/http/internal/io/safe.go). net/http then counts the request as failed and drops
// the answer. The SDK prints a warning and makes the call again. Read returns the end correctly, so
// the fix hides WriteTo.
func KeepAnswers(cfg *aws.Config) {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = awshttp.NewBuildableClient()
	}
	cfg.HTTPClient = client{cfg.HTTPClient}
}

type client struct{ aws.HTTPClient }

func (c client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.HTTPClient.Do(r)
}
