package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lipsync/internal/awstest"
	"lipsync/internal/dynamodb"
)

// wire is the HTTP client between a store and the emulator. It notes what is
// called, and may spoil some of it.
type wire struct {
	spoil func(n int, operation string) fault // of the nth call, from 0; nil spoils none

	mu    sync.Mutex
	calls []string // the operation of each, such as GetItem; tries again too
}

// fault spoils a call, which it may send first. A nil one lets it be.
type fault func(r *http.Request) (*http.Response, error)

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.mu.Lock()
	n := len(w.calls)
	w.calls = append(w.calls, operation)
	w.mu.Unlock()
	if w.spoil != nil {
		if f := w.spoil(n, operation); f != nil {
			return f(r)
		}
	}
	return send(r)
}

// send makes the call and reads its answer. Left to the SDK, one answer in some
// thousands is cut off on a busy machine, and counts as one more call.
func send(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// take returns what was called since the last take.
func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

// openWire returns a new store behind a wire.
func openWire(t testing.TB, w *wire) *dynamodb.Store {
	t.Helper()
	e := awstest.Shared(t)
	cfg := e.Config()
	cfg.HTTPClient = w
	return dynamodb.New(cfg, e.Table(t))
}

// refused is a call that DynamoDB does not do, for the reason of that name.
func refused(status int, name string) fault {
	return answered(status, map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + name, "message": "spoilt"})
}

// canceled is a transaction whose second write met the reason.
func canceled(reason string) fault {
	return answered(http.StatusBadRequest, map[string]any{
		"__type":              "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		"Message":             "spoilt",
		"CancellationReasons": []map[string]string{{"Code": "None"}, {"Code": reason}},
	})
}

func answered(status int, body any) fault {
	return func(*http.Request) (*http.Response, error) {
		return response(status, body)
	}
}

func response(status int, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:       io.NopCloser(bytes.NewReader(text)),
	}, err
}

// lost is a call that is done, and whose answer does not arrive.
func lost(r *http.Request) (*http.Response, error) {
	_, err := send(r)
	return nil, errors.Join(err, errors.New("connection reset by peer"))
}

// unprocessed is a batch of which nothing was read.
func unprocessed(r *http.Request) (*http.Response, error) {
	var asked struct{ RequestItems any }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	return response(http.StatusOK, map[string]any{"Responses": map[string]any{}, "UnprocessedKeys": asked.RequestItems})
}
