package awstest

import (
	"io"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// client is the SDK's HTTP client, with a fix for servers that answer before the body was sent
// whole.
//
// The SDK closes a request's body once there is an answer. If net/http only then looks for the
// body's end, it calls the body's WriteTo, which returns io.EOF instead of nil (smithy-go 1.28.8,
// transport/http/internal/io/safe.go). net/http then counts the request as failed and drops the
// answer, and the SDK makes the call again. Read returns the end correctly, so client hides
// WriteTo.
type client struct{ *awshttp.BuildableClient }

func (c client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.BuildableClient.Do(r)
}
