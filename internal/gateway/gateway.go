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

// stage is the name of the API's stage. Clients have it in their paths; the
// paths in events begin after it.
const stage = "/api"

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
// what looks like the end of a parameter, a slash, is part of it.
func pathOf(e events.APIGatewayProxyRequest) string {
	fixed, rest, _ := strings.Cut(e.Resource, "{")
	_, after, _ := strings.Cut(rest, "}")
	_, parameter, _ := strings.Cut(e.Path, fixed)
	parameter = strings.TrimSuffix(parameter, after)
	if decoded, err := url.PathUnescape(parameter); err == nil {
		parameter = decoded
	}
	escaped := url.PathEscape(parameter)
	if parameter == "." || parameter == ".." {
		escaped = strings.ReplaceAll(parameter, ".", "%2E") // else it would be a step up
	}
	return stage + fixed + escaped + after
}
