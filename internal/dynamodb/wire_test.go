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
	"time"

	"lipsync/internal/dynamodb"
	"lipsync/internal/dynamodbtest"
)

// wire is the HTTP client between a store and its table. It notes what is
// called, and may spoil some of it.
type wire struct {
	spoil func(n int, operation string) fault // of the nth call, from 0; nil spoils none
	takes time.Duration                       // a call, by the clock of the test

	mu      sync.Mutex
	calls   []string // the operation of each, such as GetItem; tries again too
	written int      // items
}

// fault spoils a call, which it may send first. A nil one lets it be.
type fault func(r *http.Request) (*http.Response, error)

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	items, err := writes(operation, r)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	n := len(w.calls)
	w.calls = append(w.calls, operation)
	w.written += items
	w.mu.Unlock()
	time.Sleep(w.takes)
	if w.spoil != nil {
		if f := w.spoil(n, operation); f != nil {
			return f(r)
		}
	}
	return send(r)
}

// writes returns how many items the call writes.
func writes(operation string, r *http.Request) (int, error) {
	switch operation {
	case "UpdateItem", "PutItem", "DeleteItem":
		return 1, nil
	case "TransactWriteItems":
		var asked struct{ TransactItems []any }
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err == nil {
			err = json.Unmarshal(body, &asked)
		}
		return len(asked.TransactItems), err
	}
	return 0, nil
}

// send makes the call.
func send(r *http.Request) (*http.Response, error) {
	t, _ := tables.Load(r.URL.Host)
	return t.(*dynamodbtest.Table).Do(r)
}

// take returns what was called since the last take.
func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls, w.written = nil, 0
	return calls
}

// call is how long a call takes where round trips are counted.
const call = 10 * time.Millisecond

// roundTrips returns how many calls f waits for, one after the other, of those that take so
// long. It is for tests whose time is that of a bubble.
func roundTrips(f func()) int {
	start := time.Now()
	f()
	return int(time.Since(start) / call)
}

// openWire returns a new store behind a wire.
func openWire(t testing.TB, w *wire) *dynamodb.Store {
	t.Helper()
	cfg := inMemory()
	cfg.HTTPClient = w
	return dynamodb.New(cfg, "t")
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
