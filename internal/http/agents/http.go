package agents

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/client"
	"lipsync/internal/http/rest"
)

// Path is the path of the tools on the service's own server.
const Path = "/mcp"

// mostBody is the largest call in bytes. It has room for the largest batch and for what the protocol adds.
const mostBody = rest.MaxBatchBody + 64<<10

// Handler returns the tools over HTTP, for the service whose API is given. Each call needs an API key, as the API does.
// The handler keeps no sessions. o.Client is not used.
//
// It has no guard against DNS rebinding: a page of a browser has no key, and a browser sends none by itself.
func Handler(api http.Handler, o Options) http.Handler {
	o.Client = func(h http.Header) *client.Client { return within(api, h) }
	server := New(o)
	tools := bounded(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: o.Whole, DisableLocalhostProtection: true, MaxRequestBodyBytes: mostBody, PropagateRequestCancellation: true,
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(addressHeader, address(r))
		_, err := rest.Token(r.Header)
		if err == nil {
			_, err = within(api, r.Header).Me(r.Context())
		}
		if err != nil {
			refuse(w, err)
			return
		}
		tools.ServeHTTP(w, r)
	})
}

// addressHeader carries the address at which the client called to the tools. The handler sets it.
const addressHeader = "Lipsync-Address"

// address returns the scheme and host of a call.
func address(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// within returns a client that calls the API in this process, with the key of a call.
func within(api http.Handler, h http.Header) *client.Client {
	key, err := rest.Token(h)
	if err != nil {
		key = "" // which the API refuses
	}
	called, err := url.Parse(h.Get(addressHeader))
	if err != nil {
		called = &url.URL{Scheme: "http", Host: "localhost"}
	}
	return &client.Client{URL: called, Key: key, Calls: api}
}

// refuse answers with an error of the API.
func refuse(w http.ResponseWriter, err error) {
	var answer *client.Error
	var header *failure.Error
	switch {
	case errors.As(err, &answer):
	case errors.As(err, &header) && header.Code == failure.Unauthorized:
		answer = &client.Error{Status: http.StatusUnauthorized, Message: header.Message}
	default:
		answer = &client.Error{Status: http.StatusInternalServerError, Message: "internal error"}
	}
	if answer.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if wait := failure.RetrySeconds(&failure.Error{RetryAfter: answer.After}); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": answer.Message}) // the client may be gone
}

// Serve serves the tools on standard input and output until ctx ends or the input does.
func Serve(ctx context.Context, o Options) error {
	return New(o).Run(ctx, &mcp.StdioTransport{})
}
