package sqs_test

import (
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

	"lipsync/internal/aws/sqs"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/awstest"
)

// TestAnnounce sends hints about deliveries that are due at once, in a minute and in an hour.
func TestAnnounce(t *testing.T) {
	e := awstest.Shared(t)
	url := e.Queue(t)
	var queue lipsync.Announcer = sqs.NewDeliveries(e.Config(), url)
	for id, pause := range map[string]time.Duration{"now": 0, "soon": time.Minute, "late": time.Hour} {
		if err := queue.Announce(t.Context(), "w", id, pause); err != nil {
			t.Fatal(err)
		}
	}
	out, err := sdk.NewFromConfig(e.Config()).ReceiveMessage(t.Context(), &sdk.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Messages) != 1 || *out.Messages[0].Body != `{"webhook":"w","delivery":"now"}` {
		t.Errorf("got %v, want only the delivery that is due", out.Messages)
	}
	if err := sqs.NewDeliveries(e.Config(), e.URL+"/000000000000/never").Announce(t.Context(), "w", "x", 0); err == nil {
		t.Error("a message was sent to a queue that does not exist")
	}
}

// letters passes an event with the bodies to a handler. It returns the deliveries that it made, and the
// answer in JSON. Deliveries to the webhook "broken" fail.
func letters(t *testing.T, bodies ...string) (made []string, answer string) {
	t.Helper()
	var mu sync.Mutex
	failed := 0
	handler := sqs.DeliveryHandler(func(_ context.Context, webhook, id string) error {
		mu.Lock()
		defer mu.Unlock()
		made = append(made, webhook+"/"+id)
		if webhook == "broken" {
			return errors.New("out of order")
		}
		return nil
	}, func(n int) { failed = n }, slog.New(slog.DiscardHandler))
	var e events.SQSEvent
	for i, body := range bodies {
		e.Records = append(e.Records, events.SQSMessage{MessageId: string(rune('a' + i)), Body: body})
	}
	out, err := handler(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(raw), "itemIdentifier"); n != failed {
		t.Errorf("%d messages reported as failed, want %d", failed, n)
	}
	slices.Sort(made)
	return made, string(raw)
}

func TestDeliveryHandler(t *testing.T) {
	made, answer := letters(t, `{"webhook":"w","delivery":"1"}`, "poison", `{"webhook":"broken","delivery":"2"}`, `{"webhook":"w"}`, `{"webhook":"w","delivery":"3"}`)
	if want := []string{"broken/2", "w/1", "w/3"}; !slices.Equal(made, want) {
		t.Errorf("made %v, want %v", made, want)
	}
	if want := `{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"c"},{"itemIdentifier":"d"}]}`; answer != want {
		t.Errorf("got %s, want %s", answer, want)
	}
	if made, answer := letters(t); len(made) != 0 || answer != `{"batchItemFailures":[]}` {
		t.Errorf("got %s of no messages", answer)
	}
}

// FuzzDelivery sends any body. The handler must treat it as a failure or as a delivery.
func FuzzDelivery(f *testing.F) {
	for _, body := range []string{`{"webhook":"w","delivery":"d"}`, "", "poison", "null", "[]", `{"webhook":1}`, `{"webhook":"w","delivery":"` + strings.Repeat("d", 256) + `"}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		made, answer := letters(t, body)
		if (len(made) == 1) == strings.Contains(answer, `"a"`) && !strings.HasPrefix(strings.Join(made, ""), "broken") {
			t.Errorf("%q: made %q, and answered %s", body, made, answer)
		}
	})
}
