package sqs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/uuid"

	"lipsync/internal/awstest"
	"lipsync/internal/lipsync"
	"lipsync/internal/sqs"
)

func TestSend(t *testing.T) {
	e := awstest.Shared(t)
	url := e.Queue(t)
	var queue lipsync.Queue = sqs.New(e.Config(), url)
	id := uuid.NewString()
	if err := queue.Send(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	out, err := sdk.NewFromConfig(e.Config()).ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &url})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Messages) != 1 || *out.Messages[0].Body != id {
		t.Errorf("got %v, want one message of %s", out.Messages, id)
	}
}

func TestSendFails(t *testing.T) {
	e := awstest.Shared(t)
	if err := sqs.New(e.Config(), e.URL+"/000000000000/never").Send(t.Context(), uuid.NewString()); err == nil {
		t.Error("a message went to a queue that is not there")
	}
}

// run hands the bodies to a handler, and returns the ids that it saw, sorted, how many
// messages it said to have failed, and the answer as Lambda gets it. Requests in failing
// fail.
func run(t *testing.T, failing string, bodies ...string) (seen []string, failed int, answer, log string) {
	t.Helper()
	var e events.SQSEvent
	var mu sync.Mutex
	for i, body := range bodies {
		e.Records = append(e.Records, events.SQSMessage{MessageId: string(rune('a' + i)), Body: body})
	}
	var text bytes.Buffer
	handler := sqs.Handler(func(_ context.Context, id string) error {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, id)
		if strings.Contains(failing, id) {
			return errors.New("out of order")
		}
		return nil
	}, func(n int) { failed += n }, slog.New(slog.NewJSONHandler(&text, nil)))
	out, err := handler(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(seen)
	return seen, failed, string(raw), text.String()
}

const (
	one   = "0ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
	two   = "1ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
	three = "2ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
)

func TestHandler(t *testing.T) {
	for name, c := range map[string]struct {
		bodies  []string
		failing string
		seen    string
		answer  string
	}{
		"none":            {nil, "", "", `{"batchItemFailures":[]}`},
		"all succeed":     {[]string{one, two}, "", one + two, `{"batchItemFailures":[]}`},
		"the first fails": {[]string{one, two}, one, one + two, `{"batchItemFailures":[{"itemIdentifier":"a"}]}`},
		"all fail": {[]string{one, two}, one + two, one + two,
			`{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`},
		"poison between": {[]string{one, "poison", two}, "", one + two, `{"batchItemFailures":[{"itemIdentifier":"b"}]}`},
		"three times and in reverse": {[]string{three, two, one, two, three, one, one, two, three}, "",
			one + two + three, `{"batchItemFailures":[]}`},
		"one fails that came twice": {[]string{one, two, one}, one, one + two,
			`{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"c"}]}`},
	} {
		seen, failed, answer, _ := run(t, c.failing, c.bodies...)
		if got := strings.Join(seen, ""); got != c.seen || answer != c.answer {
			t.Errorf("%s: got %s and %s, want %s and %s", name, got, answer, c.seen, c.answer)
		}
		if want := strings.Count(c.answer, "itemIdentifier"); failed != want {
			t.Errorf("%s: got %d messages told to have failed, want %d", name, failed, want)
		}
	}
}

func TestPoison(t *testing.T) {
	for _, body := range []string{
		"", "x", `"` + one + `"`, one + "\n", strings.ToUpper(one), "{" + one + "}", "urn:uuid:" + one,
		strings.ReplaceAll(one, "-", ""), `{"id":"` + one + `"}`,
	} {
		seen, _, answer, log := run(t, "", body)
		if seen != nil || answer != `{"batchItemFailures":[{"itemIdentifier":"a"}]}` {
			t.Errorf("%q: got ids %q and %s", body, seen, answer)
		}
		if !strings.Contains(log, `"message":"a"`) {
			t.Errorf("%q: got log %s, want the message's id in it", body, log)
		}
	}
}

// FuzzHandler sends any body: it is a failure, or an id that is handed on as it is.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{one, "", "poison", "urn:uuid:" + one, "{" + one + "}", strings.ToUpper(one)} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		seen, _, answer, _ := run(t, "", body)
		id, err := uuid.Parse(body)
		if err == nil && id.String() == body {
			if !slices.Equal(seen, []string{body}) || strings.Contains(answer, "itemIdentifier") {
				t.Errorf("got ids %q and %s for an id", seen, answer)
			}
		} else if seen != nil || !strings.Contains(answer, "itemIdentifier") {
			t.Errorf("got ids %q and %s for no id", seen, answer)
		}
	})
}

// TestTogether has messages that all wait for each other.
func TestTogether(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var waiting sync.WaitGroup
	waiting.Add(2)
	handler := sqs.Handler(func(context.Context, string) error {
		waiting.Done()
		both := make(chan struct{})
		go func() { waiting.Wait(); close(both) }()
		select {
		case <-both:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, func(n int) { t.Errorf("%d messages failed", n) }, slog.New(slog.DiscardHandler))
	if _, err := handler(ctx, events.SQSEvent{Records: []events.SQSMessage{{Body: one}, {Body: two}}}); err != nil {
		t.Error(err)
	}
}
