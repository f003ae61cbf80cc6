// Package client calls the HTTP API of a service, as a program of a user does. It waits as the service asks, and
// tries a call again after faults that may pass.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/http/rest"
)

// Client calls a service with a key. The key goes to the service only, never to signed URLs.
type Client struct {
	URL   *url.URL      // address of the service: its scheme and host
	Key   string        // API key
	Calls http.Handler  // answers the calls, if the service is in this process; else nil, and calls go to URL
	Retry Retry         // what to do after a fault
	Idle  time.Duration // longest time of a call in which nothing is sent or comes; 0 means a minute
}

// Error is an answer of the service that is no success.
type Error struct {
	Status  int           // HTTP status
	Message string        // sentence of the API
	After   time.Duration // time after which the service wants the call again, 0 if it doesn't say
}

// Error returns the sentence of the API.
func (e *Error) Error() string { return e.Message }

const (
	answerTime = time.Minute // in which nothing moves, if the client sets no other; and for a call that is finished after its context
	mostAnswer = 64 << 20    // bytes of an answer; an analysis with pictures has the most
	mostError  = 64 << 10    // bytes of an error
)

// connections makes the calls of all clients. No call follows a redirect: a redirected POST would become a GET.
var connections = &http.Client{
	Transport:     http.DefaultTransport.(*http.Transport).Clone(),
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// call is a call of the API. Its path is below rest.Base.
type call struct {
	method, path string
	body         any    // sent as JSON; nil for none
	once         string // the idempotency key, "" for none
}

// do makes a call, and decodes its answer to out. It returns the time after which the service wants the call again, 0
// if it doesn't say.
func (c *Client) do(ctx context.Context, call call, out any) (after time.Duration, err error) {
	err = c.Retry.do(ctx, func(ctx context.Context) error {
		after, err = c.try(ctx, call, out)
		return err
	})
	return after, err
}

// try makes a call once.
func (c *Client) try(ctx context.Context, call call, out any) (after time.Duration, err error) {
	r, err := c.request(ctx, call)
	if err != nil {
		return 0, err
	}
	answer, err := c.send(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if err := refusal(answer); err != nil {
		return 0, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return 0, fmt.Errorf("the answer of %s is not that of a lip sync service: %w", r.URL.Host, err)
	}
	return retryAfter(answer), nil
}

func (c *Client) request(ctx context.Context, call call) (*http.Request, error) {
	var body io.Reader
	if call.body != nil {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false) // signed URLs have many &
		if err := e.Encode(call.body); err != nil {
			return nil, err
		}
		body = bytes.NewReader(text.Bytes())
	}
	r, err := http.NewRequestWithContext(ctx, call.method, c.URL.String()+rest.Base+call.path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.Key)
	if call.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if call.once != "" {
		r.Header.Set("Idempotency-Key", call.once)
	}
	return r, nil
}

func (c *Client) send(r *http.Request) (*http.Response, error) {
	if c.Calls != nil {
		return within(c.Calls, r), nil
	}
	return c.ask(r)
}

// refusal returns the answer as an Error, nil if it is a success.
func refusal(answer *http.Response) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	e := &Error{Status: answer.StatusCode, After: retryAfter(answer)}
	var said struct {
		Error string `json:"error"`
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostError))
	if err == nil && json.Unmarshal(text, &said) == nil {
		e.Message = said.Error
	}
	if e.Message == "" {
		e.Message = "the service answered " + strings.TrimSpace(strconv.Itoa(e.Status)+" "+http.StatusText(e.Status))
	}
	return e
}

// retryAfter returns the header Retry-After in whole seconds, as the service writes it, 0 for any other.
func retryAfter(answer *http.Response) time.Duration {
	seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
