// Package gateway puts an HTTP handler behind a REST API of API Gateway: it
// makes calls of the events that Lambda gets, and of the answers what Lambda
// returns.
package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Stage is the name of the API's stage. Clients have it in their paths; the
// paths in events begin after it.
const Stage = "/api"

// MaxForm bounds a multipart body, in bytes: Lambda takes 6 MiB, in which the
// body is written as base64 and the headers come twice.
const MaxForm = 4_400_000

// Handler makes a function of Lambda of the handler.
func Handler(h http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(h)
	return func(ctx context.Context, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		e.Path = pathOf(e)
		answer, err := adapter.ProxyWithContext(ctx, e)
		if e.HTTPMethod == http.MethodHead {
			answer.Body = "" // net/http would have dropped it on the way
		}
		return answer, err
	}
}

// pathOf returns the path that the client called, in its encoded form. What
// comes before the resource, a custom domain's base path, is not ours.
//
// API Gateway leaves the path as the client encoded it. Emulators decode it: then
// what looks like the end of a parameter, a slash, is part of it. One that is
// written {name+} has slashes of its own. A slash after a resource without one
// comes as the client wrote it.
func pathOf(e events.APIGatewayProxyRequest) string {
	fixed, rest, parametric := strings.Cut(e.Resource, "{")
	name, after, _ := strings.Cut(rest, "}")
	_, parameter, _ := strings.Cut(e.Path, fixed)
	if !parametric {
		return Stage + fixed + parameter
	}
	segments := []string{strings.TrimSuffix(parameter, after)}
	if strings.HasSuffix(name, "+") {
		segments = strings.Split(parameter, "/")
	}
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return Stage + fixed + strings.Join(segments, "/") + after
}

// escape writes a segment of a path as net/http reads it, however it came.
func escape(segment string) string {
	if decoded, err := url.PathUnescape(segment); err == nil {
		segment = decoded
	}
	if segment == "." || segment == ".." {
		return strings.ReplaceAll(segment, ".", "%2E") // else it would be a step up
	}
	return url.PathEscape(segment)
}
