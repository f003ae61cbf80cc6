package awstest

import (
	"io"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// client is the SDK's own, for a server that answers faster than we go on.
//
// The SDK closes a request's body once there is an answer. If net/http only then
// looks for the body's end, it calls its WriteTo, which says io.EOF instead of nil
// (smithy-go 1.28.8, transport/http/internal/io/safe.go). To net/http the request
// has failed then: it cuts the answer off, and the SDK makes the call once more.
// Read tells the end as it should, so WriteTo is hidden.
type client struct{ *awshttp.BuildableClient }

func (c client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.BuildableClient.Do(r)
}
