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

	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/dynamodbtest"
)

// wire is the HTTP client between a store and its table. It records calls, and can add faults to
// some of them.
type wire struct {
	spoil func(n int, operation string) fault // returns the fault of the nth call, from 0; nil adds none
	takes time.Duration                       // duration of a call, on the test's clock

	mu      sync.Mutex
	calls   []string // operation of each call, such as GetItem; retries too
	written int      // number of items
}

// fault answers a call in place of the table. It may send the call first. A nil fault changes
// nothing.
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

// send sends the call.
func send(r *http.Request) (*http.Response, error) {
	t, _ := tables.Load(r.URL.Host)
	return t.(*dynamodbtest.Table).Do(r)
}

// take returns the calls since the last take.
func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls, w.written = nil, 0
	return calls
}

// call is the duration of a call in tests that count round trips.
const call = 10 * time.Millisecond

// roundTrips returns the time that f takes as a number of calls that wait for each other. Each call
// must take as long as the constant call. roundTrips needs the clock of a synctest bubble.
func roundTrips(f func()) int {
	start := time.Now()
	f()
	return int(time.Since(start) / call)
}

// openWire returns a store on a new table, with the wire between them.
func openWire(t testing.TB, w *wire) *dynamodb.Store {
	t.Helper()
	cfg := inMemory()
	cfg.HTTPClient = w
	return dynamodb.New(cfg, "t")
}

// refused returns a fault: DynamoDB does not do the call, and answers with the error of that name.
func refused(status int, name string) fault {
	return answered(status, map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + name, "message": "spoilt"})
}

// canceled returns a fault: the transaction is canceled because of its second write, for the
// reason.
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

// lost is a fault: the call is done, but its answer is lost.
func lost(r *http.Request) (*http.Response, error) {
	_, err := send(r)
	return nil, errors.Join(err, errors.New("connection reset by peer"))
}

// unprocessed is a fault: nothing of a batch was read.
func unprocessed(r *http.Request) (*http.Response, error) {
	var asked struct{ RequestItems any }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	return response(http.StatusOK, map[string]any{"Responses": map[string]any{}, "UnprocessedKeys": asked.RequestItems})
}
