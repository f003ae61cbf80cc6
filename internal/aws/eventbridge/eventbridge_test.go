package eventbridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lipsync/internal/aws/eventbridge"
	"lipsync/internal/domain/lipsync"
)

// server answers PutEvents in place of AWS. answer returns the error code of an entry, or "" to take it; status is that of the whole call.
type server struct {
	answer func(call int, detail string) string
	status func(call int) int

	sizes []int    // of the calls, in entries
	took  []string // the details of the entries
	entry map[string]any
}

func (s *server) Do(r *http.Request) (*http.Response, error) {
	var asked struct{ Entries []map[string]any }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	call := len(s.sizes)
	s.sizes = append(s.sizes, len(asked.Entries))
	if s.status != nil && s.status(call) != http.StatusOK {
		return respond(s.status(call), map[string]any{"__type": "ThrottlingException", "message": "slow down"})
	}
	var answers []map[string]string
	failed := 0
	for _, e := range asked.Entries {
		detail := e["Detail"].(string)
		code := ""
		if s.answer != nil {
			code = s.answer(call, detail)
		}
		if code != "" {
			failed++
			answers = append(answers, map[string]string{"ErrorCode": code, "ErrorMessage": "no"})
			continue
		}
		s.took, s.entry = append(s.took, detail), e
		answers = append(answers, map[string]string{"EventId": "x"})
	}
	return respond(http.StatusOK, map[string]any{"FailedEntryCount": failed, "Entries": answers})
}

func respond(status int, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(bytes.NewReader(text)),
	}, err
}

// events returns n events with the numbers from 0 as bodies.
func events(n int) (all []lipsync.BusEvent) {
	for i := range n {
		all = append(all, lipsync.BusEvent{ID: fmt.Sprint("msg_", i), Type: lipsync.RequestCompleted, At: time.Unix(1_800_000_000, 0), Body: fmt.Append(nil, i)})
	}
	return all
}

// put puts the events at the server, on a simulated clock. It returns how long that took.
func put(t *testing.T, s *server, all []lipsync.BusEvent) (refused []int, took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		bus := eventbridge.New(aws.Config{
			Region: "eu-west-1", HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		}, "main")
		began := time.Now()
		refused, err = bus.Put(t.Context(), all)
		took = time.Since(began)
	})
	return refused, took, err
}

func TestPut(t *testing.T) {
	s := new(server)
	refused, took, err := put(t, s, events(23))
	if err != nil || refused != nil || took != 0 || !slices.Equal(s.sizes, []int{10, 10, 3}) || len(s.took) != 23 || s.took[22] != "22" {
		t.Errorf("got %v (%v) after %s, in calls of %v entries", refused, err, took, s.sizes)
	}
	want := map[string]any{"EventBusName": "main", "Source": "lipsync", "DetailType": "lipsync.completed", "Detail": "22", "Time": 1.8e9}
	if fmt.Sprint(s.entry) != fmt.Sprint(want) {
		t.Errorf("got the entry %v, want %v", s.entry, want)
	}
}

// TestLargeEvents checks that no call is larger than AWS allows.
func TestLargeEvents(t *testing.T) {
	all := events(5)
	for i := range all {
		all[i].Body = []byte(strings.Repeat("x", 100_000))
	}
	s := new(server)
	if _, _, err := put(t, s, all); err != nil || !slices.Equal(s.sizes, []int{2, 2, 1}) {
		t.Errorf("got calls of %v events (%v)", s.sizes, err)
	}
}

// TestPartialFailure checks that only the entries that failed are sent again.
func TestPartialFailure(t *testing.T) {
	s := &server{answer: func(call int, detail string) string {
		if call < 2 && (detail == "1" || detail == "3") {
			return []string{"ThrottlingException", "InternalFailure"}[call]
		}
		return ""
	}}
	refused, took, err := put(t, s, events(5))
	if err != nil || refused != nil || !slices.Equal(s.sizes, []int{5, 2, 2}) || !slices.Equal(s.took, []string{"0", "2", "4", "1", "3"}) {
		t.Errorf("got %v (%v), in calls of %v entries: %v", refused, err, s.sizes, s.took)
	}
	if want := 300 * time.Millisecond; took != want {
		t.Errorf("took %s, want pauses of %s", took, want)
	}
}

// TestThrottled answers the first calls with an error for the whole call.
func TestThrottled(t *testing.T) {
	s := &server{status: func(call int) int {
		if call < 4 { // the SDK tries three times by itself
			return http.StatusBadRequest
		}
		return http.StatusOK
	}}
	if _, _, err := put(t, s, events(2)); err != nil || !slices.Equal(s.took, []string{"0", "1"}) || len(s.sizes) != 5 {
		t.Errorf("got %v (%v), after %d calls", s.took, err, len(s.sizes))
	}
}

// TestRefused checks that an event is left out that the bus can't take, and that nothing else waits for it.
func TestRefused(t *testing.T) {
	for _, code := range []string{"MalformedDetail", "RedactionFailure"} {
		s := &server{answer: func(_ int, detail string) string {
			if detail == "1" || detail == "11" {
				return code
			}
			return ""
		}}
		refused, took, err := put(t, s, events(12))
		if err != nil || !slices.Equal(refused, []int{1, 11}) || len(s.took) != 10 || took != 0 {
			t.Errorf("%s: got %v (%v) after %s, want the events 1 and 11", code, refused, err, took)
		}
	}
}

// TestBroken checks how long a bus is tried that takes nothing.
func TestBroken(t *testing.T) {
	s := &server{answer: func(int, string) string { return "AccessDeniedException" }}
	_, took, err := put(t, s, events(3))
	if err == nil || !strings.Contains(err.Error(), "did not take 3 of 3 events: AccessDeniedException: no") {
		t.Errorf("got the error %v", err)
	}
	if want := 12700 * time.Millisecond; took != want || len(s.sizes) != 8 {
		t.Errorf("tried %d times for %s, want 8 times for %s", len(s.sizes), took, want)
	}
}

// TestInterrupted ends the function while the bus fails.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(int, string) string { return "InternalFailure" }}
		bus := eventbridge.New(aws.Config{
			Region: "eu-west-1", HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		}, "main")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := bus.Put(ctx, events(1)); err == nil || ctx.Err() == nil {
			t.Errorf("got the error %v, want that of the context", err)
		}
	})
}
