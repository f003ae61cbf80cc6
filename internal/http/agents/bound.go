package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/client"
	"lipsync/internal/http/rest"
	"lipsync/internal/http/slots"
)

// The library of the protocol decodes a call several times, and needs up to 2 KiB of memory for a value in it. These bound what that takes.
const (
	smallBody  = 64 << 10               // bytes of a call that waits for no slot
	largeCalls = 8                      // larger ones that are handled at a time, and those of one key that are read
	largeOfKey = 2                      // those of one key that are handled
	mostValues = 64 * lipsync.MostLines // of a call: a line of a batch with all options has some 30
	// mostMessages is for a list of messages in one call, as older versions of the protocol allow. All are answered at once, and the list of tools
	// has 11 KiB.
	mostMessages = 16

	bodyTime  = 30 * time.Second // for reading one
	retryTime = 2 * time.Second  // after which a client may try again
)

// bounded returns a handler that passes calls on to next, but only a few large ones at a time, of all keys and of each, and none with too many values or
// messages. A call is read before it takes a slot of all, so that no slow client keeps out others.
func bounded(next http.Handler) http.Handler {
	read, handled := slots.New(largeCalls, 0, 0), slots.New(largeOfKey, largeCalls, 0)
	busy := &client.Error{Status: http.StatusTooManyRequests, Message: failure.TooManyCalls, After: retryTime}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _ := rest.Token(r.Header) // Handler has checked it
		leave := func() {}
		if r.ContentLength < 0 || r.ContentLength > smallBody {
			slot, ok := read.Take(r.Context(), key)
			if !ok {
				refuse(w, busy)
				return
			}
			leave = sync.OnceFunc(slot)
			defer leave()
		}
		body, err := readBody(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		leave()
		if len(body) > smallBody {
			slot, ok := handled.Take(r.Context(), key)
			if !ok {
				refuse(w, busy)
				return
			}
			defer slot()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readBody reads the body of a call.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // on AWS the whole call is there already
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err == nil { // otherwise the server would wait for the rest
		_ = c.SetReadDeadline(time.Time{})
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, &client.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the call exceeds %d bytes", mostBody)}
	}
	if err != nil {
		return nil, &client.Error{Status: http.StatusBadRequest, Message: "the call was not read to its end"}
	}
	switch n, messages := values(body); {
	case n > mostValues:
		return nil, &client.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the call has more than %d values", mostValues)}
	case messages > mostMessages:
		return nil, &client.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the call has more than %d messages", mostMessages)}
	}
	return body, nil
}

// values returns upper bounds of the number of values in a JSON text, and of the values that are in its outermost list, 1 without a list.
func values(text []byte) (n, listed int) {
	n, listed = 1, 1
	depth, quoted, list := 0, false, bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("["))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // the next character does not end the string
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			n++
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			n++
			if list && depth == 1 {
				listed++
			}
		}
	}
	return n, listed
}
