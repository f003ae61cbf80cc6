package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"lipsync/internal/client"
	"lipsync/internal/lipsync"
)

// The library of the protocol decodes a call several times, and needs up to 2 KiB of memory for a value in it. These bound what that takes.
const (
	smallBody  = 64 << 10               // bytes of a call that isn't bounded
	largeCalls = 8                      // larger ones that are read and handled at a time
	mostValues = 64 * lipsync.MostLines // of a call: a line of a batch with all options has some 30
	bodyTime   = 30 * time.Second       // for reading a larger one, so that no slow client keeps out others
	retryTime  = 2 * time.Second        // after which a client may try again
)

// bounded returns a handler that passes calls on to next, but only a few large ones at a time, and none with too many values.
func bounded(next http.Handler) http.Handler {
	places := make(chan struct{}, largeCalls)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if 0 <= r.ContentLength && r.ContentLength <= smallBody {
			next.ServeHTTP(w, r)
			return
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			refuse(w, &client.Error{Status: http.StatusTooManyRequests, Message: "rate limit exceeded", After: retryTime})
			return
		}
		body, err := readBody(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readBody reads the body of a large call.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // on AWS the whole call is there already
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err == nil { // otherwise the server would wait for the rest
		_ = c.SetReadDeadline(time.Time{})
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &client.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the call exceeds %d bytes", mostBody)}
	case err != nil:
		return nil, &client.Error{Status: http.StatusBadRequest, Message: "the call was not read to its end"}
	case values(body) > mostValues:
		return nil, &client.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the call has more than %d values", mostValues)}
	}
	return body, nil
}

// values returns an upper bound of the number of values in a JSON text.
func values(text []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // the next character does not end the string
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	return n
}
