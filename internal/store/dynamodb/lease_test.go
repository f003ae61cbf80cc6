package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// leading records the partition keys that calls name, after the name of the operation.
type leading struct {
	mu   sync.Mutex
	keys []string
}

func (l *leading) note(operation string, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asked any
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.walk(operation, asked)
	return err
}

// walk finds the partition keys of items and queries in the value.
func (l *leading) walk(operation string, v any) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			l.walk(operation, each)
		}
	case map[string]any:
		for name, each := range v {
			value, _ := each.(map[string]any)
			if name == table.PartitionKey || operation == "Query" && (name == ":open" || name == ":request") {
				of := map[string]string{":open": " index"}[name]
				l.keys = append(l.keys, fmt.Sprint(operation+of, ",", value["S"]))
				continue
			}
			l.walk(operation, each)
		}
	}
}

// TestLeaseKeys does all that the program does by which runners do requests. All partition keys that it uses must be among those
// that it has rights for, and each right must be needed.
func TestLeaseKeys(t *testing.T) {
	var w wire
	var l leading
	s := openWire(t, &w)
	now := time.Unix(1_800_000_000, 0).UTC()
	check.Must(t, s.Webhooks.Put(t.Context(), lipsync.AccountWebhooks{Account: "a", List: []lipsync.Webhook{{ID: "w", URL: "https://example.com"}}}))
	for _, account := range []string{"a", "b"} {
		check.Must(t, s.Keys.Create(t.Context(), lipsync.Key{ID: "key of " + account, Account: account, Hash: [32]byte{account[0]}}))
		for i := range 60 {
			r := lipsync.Request{
				ID: fmt.Sprint(account, i), Account: account, KeyID: "key of " + account, ReferenceID: "x", Status: lipsync.Queued, CreatedAt: now,
			}
			_, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
			check.Must(t, err)
		}
	}
	_, err := s.Leases.Claim(t.Context(), "b0", "long", now.Add(-2*time.Minute), time.Minute, lipsync.Choice{})
	check.Must(t, err)
	check.Must(t, s.Leases.Renew(t.Context(), "b0", "long", now.Add(time.Hour))) // so that claims read the lease
	w.spoil = func(_ int, operation string) fault {
		return func(r *http.Request) (*http.Response, error) {
			if err := l.note(operation, r); err != nil {
				return nil, err
			}
			return send(r)
		}
	}
	for i, end := range []func(r lipsync.Request) error{
		func(r lipsync.Request) error { return lipsynctest.Release(t.Context(), s.Leases, r.ID, r.Lease) },
		func(r lipsync.Request) error {
			return lipsynctest.Postpone(t.Context(), s.Leases, r, now.Add(time.Hour))
		},
		func(r lipsync.Request) error {
			return lipsynctest.Finish(t.Context(), s.Leases, r.ID, r.Lease, now, lipsync.Outcome{Output: "o", Length: time.Second, Size: 5})
		},
		func(r lipsync.Request) error {
			return lipsynctest.Finish(t.Context(), s.Leases, r.ID, r.Lease, now, lipsync.Outcome{Failure: failure.Failure{Code: failure.InternalFault}})
		},
	} {
		r, err := s.Leases.Claim(t.Context(), []string{"", "a50"}[i%2], fmt.Sprint("w", i), now, time.Minute, lipsync.Choice{})
		check.Must(t, err)
		check.Must(t, s.Leases.Renew(t.Context(), r.ID, r.Lease, now.Add(time.Minute)))
		check.Must(t, s.Leases.Report(t.Context(), r.ID, r.Lease, lipsync.Progress{Percent: 5}))
		_, err = s.Requests.ByID(t.Context(), r.ID)
		check.Must(t, err)
		check.Must(t, end(r))
		_, err = s.Queue.Worked(t.Context(), lipsync.Stint{Took: time.Minute})
		check.Must(t, err)
		now = now.Add(2 * time.Hour)
	}
	rights := map[string][]string{
		"Query": dynamodb.BrokerReads(), "BatchGetItem": dynamodb.BrokerReads(), "Query index": dynamodb.BrokerQueries(),
		"UpdateItem": dynamodb.BrokerWrites(), "TransactWriteItems": append(dynamodb.BrokerWrites(), dynamodb.BrokerPuts()...),
	}
	needed := make(map[string]bool)
	for _, named := range l.keys {
		operation, key, _ := strings.Cut(named, ",")
		i := slices.IndexFunc(rights[operation], func(pattern string) bool { return matches(pattern, key) })
		if i < 0 {
			t.Errorf("%s of %s is beyond the rights", operation, key)
			continue
		}
		needed[kind(operation)+rights[operation][i]] = true
	}
	for operation, patterns := range rights {
		for _, pattern := range patterns {
			if !needed[kind(operation)+pattern] {
				t.Errorf("%s: nobody needs the right to %s", operation, pattern)
			}
			if matches(pattern, "key/x") || matches(pattern, "keys/x") || matches(pattern, "keyid/x") || matches(pattern, "upload/x") || matches(pattern, "webhooks/x") {
				t.Errorf("%s: %s has API keys, uploads or secrets", operation, pattern)
			}
		}
	}
}

// kind returns the list of rights to which the operation belongs.
func kind(operation string) string {
	return map[string]string{"Query": "read ", "BatchGetItem": "read ", "Query index": "query ", "UpdateItem": "write ", "TransactWriteItems": "write "}[operation]
}

// matches reports whether the pattern of IAM matches the key. In IAM, * also matches slashes.
func matches(pattern, key string) bool {
	if prefix, star := strings.CutSuffix(pattern, "*"); star {
		return strings.HasPrefix(key, prefix)
	}
	return pattern == key
}
