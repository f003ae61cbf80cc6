package sqs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	var queue lipsync.Hints = sqs.New(e.Config(), url)
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

// TestForetell sends a message that the handler takes for one about a request that may come.
func TestForetell(t *testing.T) {
	e := awstest.Shared(t)
	url := e.Queue(t)
	check.Must(t, sqs.New(e.Config(), url).Foretell(t.Context()))
	out, err := sdk.NewFromConfig(e.Config()).ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &url})
	check.Must(t, err)
	check.Want(t, "messages", len(out.Messages), 1)
	s, _, answer, _ := run(t, nil, *out.Messages[0].Body)
	check.Want(t, "answer", answer, `{"batchItemFailures":[]}`)
	check.Want(t, "calls", s, scaler{expected: 1})
}

func TestSendFails(t *testing.T) {
	e := awstest.Shared(t)
	if err := sqs.New(e.Config(), e.URL+"/000000000000/never").Send(t.Context(), lipsync.Request{ID: uuid.NewString()}); err == nil {
		t.Error("a message was sent to a queue that does not exist")
	}
}

// scaler counts the calls of a handler, and returns an error.
type scaler struct {
	err              error
	scaled, expected int
}

func (s *scaler) Scale(context.Context) error  { s.scaled++; return s.err }
func (s *scaler) Expect(context.Context) error { s.expected++; return s.err }

// run passes an event with the bodies to a handler whose scaler returns err. It returns the scaler without the error,
// the number of messages that the handler reported as failed, and the answer in JSON.
func run(t *testing.T, err error, bodies ...string) (s scaler, failed int, answer, log string) {
	t.Helper()
	var e events.SQSEvent
	for i, body := range bodies {
		e.Records = append(e.Records, events.SQSMessage{MessageId: string(rune('a' + i)), Body: body})
	}
	var text bytes.Buffer
	s.err = err
	handler := sqs.Handler(&s, func(n int) { failed += n }, slog.New(slog.NewJSONHandler(&text, nil)))
	out, err := handler(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	s.err = nil
	return s, failed, string(raw), text.String()
}

const (
	one = "0ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
	two = "1ee0c3a3-1ad0-4d13-a8e4-9f6f6f3a1b11"
)

func TestHandler(t *testing.T) {
	broken := errors.New("out of order")
	for name, c := range map[string]struct {
		bodies   []string
		err      error
		scaled   int
		answer   string
		expected int
	}{
		"none":                {nil, broken, 0, `{"batchItemFailures":[]}`, 0},
		"foretold":            {[]string{"foretold"}, nil, 0, `{"batchItemFailures":[]}`, 1},
		"… and it fails":      {[]string{"foretold"}, broken, 0, `{"batchItemFailures":[]}`, 1},
		"… twice":             {[]string{"foretold", "foretold"}, nil, 0, `{"batchItemFailures":[]}`, 1},
		"… and made":          {[]string{"foretold", one}, nil, 1, `{"batchItemFailures":[]}`, 0},
		"… and scaling fails": {[]string{"foretold", one}, broken, 1, `{"batchItemFailures":[{"itemIdentifier":"b"}]}`, 0},
		"all succeed":         {[]string{one, two}, nil, 1, `{"batchItemFailures":[]}`, 0},
		"twice":               {[]string{one, one}, nil, 1, `{"batchItemFailures":[]}`, 0},
		"scaling fails":       {[]string{one, two}, broken, 1, `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`, 0},
		"poison":              {[]string{"poison"}, broken, 0, `{"batchItemFailures":[{"itemIdentifier":"a"}]}`, 0},
		"poison between":      {[]string{one, "poison", two}, nil, 1, `{"batchItemFailures":[{"itemIdentifier":"b"}]}`, 0},
		"poison and fails":    {[]string{"poison", two}, broken, 1, `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`, 0},
	} {
		s, failed, answer, _ := run(t, c.err, c.bodies...)
		check.Want(t, name+": calls", s, scaler{scaled: c.scaled, expected: c.expected})
		if answer != c.answer {
			t.Errorf("%s: got %s, want %s", name, answer, c.answer)
		}
		if want := strings.Count(c.answer, "itemIdentifier"); failed != want {
			t.Errorf("%s: got %d messages reported as failed, want %d", name, failed, want)
		}
	}
}

// TestHandlerStale sends a message that a request may come, which the handler gets after some time.
func TestHandlerStale(t *testing.T) {
	for after, expected := range map[int]int{59_999: 1, 60_000: 0} {
		s := &scaler{}
		_, err := sqs.Handler(s, func(int) {}, slog.New(slog.DiscardHandler))(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
			Body: "foretold", Attributes: map[string]string{"SentTimestamp": "1700000000000", "ApproximateFirstReceiveTimestamp": strconv.Itoa(1_700_000_000_000 + after)},
		}}})
		check.Must(t, err)
		check.Want(t, fmt.Sprintf("calls after %d ms", after), *s, scaler{expected: expected})
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
		s := &scaler{err: c.err}
		handler := sqs.Handler(s, func(int) {}, slog.New(slog.DiscardHandler))
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
			check.Want(t, name+": failures of", len(answer.BatchItemFailures), map[bool]int{true: len(all)}[c.err != nil && s.scaled > 0])
		}
		send(c.before)
		s.scaled = 0
		send(c.then)
		check.Want(t, name+": scales", s.scaled, c.scaled)
	}
}

func TestPoison(t *testing.T) {
	for _, body := range []string{
		"", "x", `"` + one + `"`, one + "\n", strings.ToUpper(one), "{" + one + "}", "urn:uuid:" + one,
		strings.ReplaceAll(one, "-", ""), `{"id":"` + one + `"}`,
	} {
		s, _, answer, log := run(t, nil, body)
		if s != (scaler{}) || answer != `{"batchItemFailures":[{"itemIdentifier":"a"}]}` {
			t.Errorf("%q: got %s and the calls %+v", body, answer, s)
		}
		if !strings.Contains(log, `"message":"a"`) {
			t.Errorf("%q: got log %s, want the message's id in it", body, log)
		}
	}
}

// FuzzHandler sends any body. The handler must treat it as a failure, as an id or as foretold.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{one, "foretold", "", "poison", "urn:uuid:" + one, "{" + one + "}", strings.ToUpper(one)} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s, _, answer, _ := run(t, nil, body)
		id, err := uuid.Parse(body)
		want := scaler{}
		if err == nil && id.String() == body {
			want.scaled = 1
		} else if body == "foretold" {
			want.expected = 1
		}
		if s != want || (want == scaler{}) != strings.Contains(answer, "itemIdentifier") {
			t.Errorf("%q: got %s and the calls %+v", body, answer, s)
		}
	})
}
