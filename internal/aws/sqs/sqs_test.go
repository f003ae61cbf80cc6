package sqs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/uuid"

	"lipsync/internal/aws/sqs"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

func TestSend(t *testing.T) {
	e := awstest.Shared(t)
	url := e.Queue(t)
	var queue lipsync.Queue = sqs.New(e.Config(), url)
	id := uuid.NewString()
	if err := queue.Send(t.Context(), lipsync.Request{ID: id}); err != nil {
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
	if err := sqs.New(e.Config(), e.URL+"/000000000000/never").Send(t.Context(), lipsync.Request{ID: uuid.NewString()}); err == nil {
		t.Error("a message was sent to a queue that does not exist")
	}
}

// run passes an event with the bodies to a handler whose scale returns err. It returns the number
// of calls of scale, the number of messages that the handler reported as failed, and the answer in
// JSON.
func run(t *testing.T, err error, bodies ...string) (scaled, failed int, answer, log string) {
	t.Helper()
	var e events.SQSEvent
	for i, body := range bodies {
		e.Records = append(e.Records, events.SQSMessage{MessageId: string(rune('a' + i)), Body: body})
	}
	var text bytes.Buffer
	handler := sqs.Handler(func(context.Context) error {
		scaled++
		return err
	}, func(n int) { failed += n }, slog.New(slog.NewJSONHandler(&text, nil)))
	out, err := handler(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return scaled, failed, string(raw), text.String()
}

const (
	one = "0ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
	two = "1ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
)

func TestHandler(t *testing.T) {
	broken := errors.New("out of order")
	for name, c := range map[string]struct {
		bodies []string
		err    error
		scaled int
		answer string
	}{
		"none":             {nil, broken, 0, `{"batchItemFailures":[]}`},
		"all succeed":      {[]string{one, two}, nil, 1, `{"batchItemFailures":[]}`},
		"twice":            {[]string{one, one}, nil, 1, `{"batchItemFailures":[]}`},
		"scaling fails":    {[]string{one, two}, broken, 1, `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`},
		"poison":           {[]string{"poison"}, broken, 0, `{"batchItemFailures":[{"itemIdentifier":"a"}]}`},
		"poison between":   {[]string{one, "poison", two}, nil, 1, `{"batchItemFailures":[{"itemIdentifier":"b"}]}`},
		"poison and fails": {[]string{"poison", two}, broken, 1, `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`},
	} {
		scaled, failed, answer, _ := run(t, c.err, c.bodies...)
		if scaled != c.scaled || answer != c.answer {
			t.Errorf("%s: got %d and %s, want %d and %s", name, scaled, answer, c.scaled, c.answer)
		}
		if want := strings.Count(c.answer, "itemIdentifier"); failed != want {
			t.Errorf("%s: got %d messages reported as failed, want %d", name, failed, want)
		}
	}
}

// TestHandlerCounted sends messages about requests that the scale before has counted, and others. A message was sent and received some
// milliseconds after the beginning; 0 means that it has no such attribute.
func TestHandlerCounted(t *testing.T) {
	type message struct{ sent, received int }
	broken := errors.New("out of order")
	for name, c := range map[string]struct {
		before []message
		err    error
		then   []message
		scaled int
	}{
		"older than the scale":              {[]message{{5000, 9000}}, nil, []message{{7999, 12000}}, 0},
		"not surely shown then":             {[]message{{5000, 9000}}, nil, []message{{8000, 12000}}, 1},
		"younger":                           {[]message{{5000, 9000}}, nil, []message{{9500, 12000}}, 1},
		"one of ten is younger":             {[]message{{5000, 9000}}, nil, append(slices.Repeat([]message{{6000, 12000}}, 9), message{9500, 12000}), 1},
		"by the newest of the scale before": {[]message{{5000, 9000}, {6000, 9500}}, nil, []message{{8400, 12000}}, 0},
		"a message that came before again":  {[]message{{5000, 9000}, {5000, 3000}}, nil, []message{{7500, 12000}}, 0},
		"the scale failed":                  {[]message{{5000, 9000}}, broken, []message{{5000, 9000}}, 1},
		"without times":                     {[]message{{}}, nil, []message{{}}, 1},
		"without a time of the scale":       {[]message{{5000, 0}}, nil, []message{{5000, 9000}}, 1},
		"without a time of the message":     {[]message{{5000, 9000}}, nil, []message{{0, 12000}}, 1},
	} {
		scaled := 0
		handler := sqs.Handler(func(context.Context) error { scaled++; return c.err }, func(int) {}, slog.New(slog.DiscardHandler))
		send := func(all []message) {
			t.Helper()
			var e events.SQSEvent
			for _, m := range all {
				times := map[string]string{}
				for name, at := range map[string]int{"SentTimestamp": m.sent, "ApproximateFirstReceiveTimestamp": m.received} {
					if at > 0 {
						times[name] = strconv.Itoa(1_700_000_000_000 + at)
					}
				}
				e.Records = append(e.Records, events.SQSMessage{MessageId: "m", Body: one, Attributes: times})
			}
			answer, err := handler(t.Context(), e)
			check.Must(t, err)
			check.Want(t, name+": failures of", len(answer.BatchItemFailures), map[bool]int{true: len(all)}[c.err != nil && scaled > 0])
		}
		send(c.before)
		scaled = 0
		send(c.then)
		check.Want(t, name+": scales", scaled, c.scaled)
	}
}

func TestPoison(t *testing.T) {
	for _, body := range []string{
		"", "x", `"` + one + `"`, one + "\n", strings.ToUpper(one), "{" + one + "}", "urn:uuid:" + one,
		strings.ReplaceAll(one, "-", ""), `{"id":"` + one + `"}`,
	} {
		scaled, _, answer, log := run(t, nil, body)
		if scaled > 0 || answer != `{"batchItemFailures":[{"itemIdentifier":"a"}]}` {
			t.Errorf("%q: got %s, and scaled %d times", body, answer, scaled)
		}
		if !strings.Contains(log, `"message":"a"`) {
			t.Errorf("%q: got log %s, want the message's id in it", body, log)
		}
	}
}

// FuzzHandler sends any body. The handler must treat it as a failure or as an id.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{one, "", "poison", "urn:uuid:" + one, "{" + one + "}", strings.ToUpper(one)} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		scaled, _, answer, _ := run(t, nil, body)
		id, err := uuid.Parse(body)
		good := err == nil && id.String() == body
		if good != (scaled == 1) || good == strings.Contains(answer, "itemIdentifier") {
			t.Errorf("%q: got %s, and scaled %d times", body, answer, scaled)
		}
	})
}
