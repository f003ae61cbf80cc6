// Package gateway runs an HTTP handler behind a REST API of API Gateway. It turns Lambda's events
// into HTTP requests, and the answers into Lambda's.
package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Timeout is the longest time of a function's call. API Gateway waits for 29 seconds.
const Timeout = 25 * time.Second

// MaxForm bounds a multipart body, in bytes. An event of Lambda has at most 6 MiB, in which the
// body is in base64 and the headers appear twice.
const MaxForm = 4_400_000

// Handler returns a Lambda function that calls the handler. base is a slash and the name of the
// API's stage: the paths that clients call begin with it, and the paths in events begin after it.
func Handler(base string, h http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(h)
	return func(ctx context.Context, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		e.Path = base + pathOf(e)
		answer, err := adapter.ProxyWithContext(ctx, e)
		if e.HTTPMethod == http.MethodHead {
			answer.Body = "" // net/http would have dropped the body of an answer to HEAD
		}
		return answer, err
	}
}

// pathOf returns the path that the client called after the stage, in its encoded form, without the
// base path of a custom domain before the resource.
//
// API Gateway leaves the path as the client encoded it. Emulators decode it, so a slash in a
// parameter looks like the end of the parameter. pathOf takes it for a part of the parameter.
// Parameters of the form {name+} contain slashes anyway. A slash at the end of the call stays, even
// if the resource's path has none there.
func pathOf(e events.APIGatewayProxyRequest) string {
	fixed, rest, parametric := strings.Cut(e.Resource, "{")
	_, values, _ := strings.Cut(e.Path, fixed)
	if !parametric {
		return fixed + values
	}
	return fixed + fill(rest, values)
}

// fill returns a part of a path with its values escaped. The pattern begins within its first parameter, and
// the values begin with that of this parameter.
func fill(pattern, values string) string {
	name, after, _ := strings.Cut(pattern, "}")
	if between, next, more := strings.Cut(after, "{"); more {
		value, others, _ := strings.Cut(values, between)
		return escape(value) + between + fill(next, others)
	}
	segments := []string{strings.TrimSuffix(values, after)}
	if strings.HasSuffix(name, "+") {
		segments = strings.Split(values, "/")
	}
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return strings.Join(segments, "/") + after
}

// escape returns a segment of a path in the form that net/http reads, whether it was escaped or
// not.
func escape(segment string) string {
	if decoded, err := url.PathUnescape(segment); err == nil {
		segment = decoded
	}
	if segment == "." || segment == ".." {
		return strings.ReplaceAll(segment, ".", "%2E") // otherwise it would mean the parent folder
	}
	return url.PathEscape(segment)
}
