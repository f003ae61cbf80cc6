package fetch

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

var _ lipsync.Poster = (*Client)(nil)

// Post sends the body within Options.Total.
func (c *Client) Post(ctx context.Context, rawURL string, header http.Header, body []byte) (lipsync.Answer, error) {
	bounded, stop := context.WithTimeout(ctx, c.options.Total)
	defer stop()
	answer, err := c.post(bounded, rawURL, header, body)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return lipsync.Answer{}, ctx.Err()
	case bounded.Err() != nil || isTimeout(err):
		return lipsync.Answer{}, &failure.Error{Code: failure.TooSlow, Message: "server does not answer", Err: withoutURL(err)}
	}
	return lipsync.Answer{}, explain(err)
}

// isTimeout reports whether the server did not connect or answer in time.
func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func (c *Client) post(ctx context.Context, rawURL string, header http.Header, body []byte) (lipsync.Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, rawURL, bytes.NewReader(body))
	if err != nil {
		return lipsync.Answer{}, refused(withoutURL(err).Error())
	}
	if err := checkURL(request.URL); err != nil {
		return lipsync.Answer{}, err
	}
	request.GetBody = nil // so that http.Transport makes no second call
	request.Header = header.Clone()
	request.Header.Set("User-Agent", c.agent())
	response, err := c.sender.Do(request)
	if err != nil {
		return lipsync.Answer{}, err
	}
	response.Body.Close() // nothing of it is read
	return lipsync.Answer{Status: response.StatusCode, RetryAfter: retryAfter(response.Header)}, nil
}
