package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/rest"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// receiver is a lipsync.Poster that answers by itself. It records the calls.
type receiver struct {
	clock  *lipsynctest.Clock
	answer func(call post) (lipsync.Answer, error)

	mu    sync.Mutex
	calls []post
}

// post is a call of a webhook.
type post struct {
	at     time.Duration // since lipsynctest.Start
	url    string
	header http.Header
	body   []byte
	id     string
	kind   lipsync.EventType
}

func (r *receiver) Post(_ context.Context, url string, header http.Header, body []byte) (lipsync.Answer, error) {
	var event struct{ Type lipsync.EventType }
	if err := json.Unmarshal(body, &event); err != nil {
		return lipsync.Answer{}, err
	}
	p := post{r.clock.Now().Sub(lipsynctest.Start()), url, header, body, header.Get("webhook-id"), event.Type}
	r.mu.Lock()
	r.calls = append(r.calls, p)
	r.mu.Unlock()
	return r.answer(p)
}

// answers returns a function that answers each call with the status.
func answers(code int) func(post) (lipsync.Answer, error) {
	return func(post) (lipsync.Answer, error) { return lipsync.Answer{Status: code}, nil }
}

func problem(code failure.Code) func(post) (lipsync.Answer, error) {
	return func(post) (lipsync.Answer, error) {
		return lipsync.Answer{}, &failure.Error{Code: code, Message: "the host accepts no connections"}
	}
}

// withReceiver lets the fixture make deliveries, by a source of randomness that gives only zeros to jitter.
func (f *fixture) withReceiver(answer func(post) (lipsync.Answer, error)) *receiver {
	r := &receiver{clock: f.clock, answer: answer}
	f.Poster, f.EventBody = r, rest.EventBody(nil)
	return r
}

func (f *fixture) webhook(t *testing.T, events ...lipsync.EventType) lipsync.Webhook {
	t.Helper()
	all, err := f.Webhooks(t.Context(), f.caller)
	check.Must(t, err)
	w, err := f.CreateWebhook(t.Context(), f.caller, fmt.Sprintf("https://example.com/hook%d", len(all)), events)
	check.Must(t, err)
	return w
}

// deliverDue makes all deliveries that are due.
func (f *fixture) deliverDue(t *testing.T) {
	t.Helper()
	accounts, err := f.Store.Webhooks.All(t.Context())
	check.Must(t, err)
	for _, a := range accounts {
		for _, w := range a.List {
			due, err := f.Store.Webhooks.Due(t.Context(), w.ID, f.Now(), 1000)
			check.Must(t, err)
			for _, d := range due {
				check.Must(t, f.Deliver(t.Context(), w.ID, d.ID))
			}
		}
	}
}

func (f *fixture) deliveries(t *testing.T, w lipsync.Webhook) []lipsync.Delivery {
	t.Helper()
	all, err := f.Deliveries(t.Context(), f.caller, w.ID, "", 100)
	check.Must(t, err)
	return all
}

// TestDeliverySchedule sends a test event to receivers with different faults for five days. What was sent when must be the
// table in docs/webhooks.md.
func TestDeliverySchedule(t *testing.T) {
	whole := []string{"0s", "5s", "5m5s", "35m5s", "2h35m5s", "7h35m5s", "17h35m5s", "31h35m5s", "51h35m5s", "75h35m5s"}
	down := func(until time.Duration, then int) func(post) (lipsync.Answer, error) {
		return func(p post) (lipsync.Answer, error) {
			if p.at < until {
				return problem(failure.NoHost)(p)
			}
			return answers(then)(p)
		}
	}
	busy := func(after time.Duration) func(post) (lipsync.Answer, error) {
		return func(p post) (lipsync.Answer, error) {
			if p.at < after {
				return lipsync.Answer{Status: 503, RetryAfter: after}, nil
			}
			return answers(204)(p)
		}
	}
	short := strings.NewReplacer("h0m0s", " h", "m0s", " min", "h", " h ", "m", " min ", "s", " s")
	page, err := os.ReadFile("../../../docs/webhooks.md")
	check.Must(t, err)
	_, after, _ := strings.Cut(string(page), "| Receiver | Attempts after the event | Then |\n|---|---|---|\n")
	table, _, _ := strings.Cut(after, "\n\n")
	rows := strings.Split(table, "\n")
	cases := []struct {
		name   string
		answer func(post) (lipsync.Answer, error)
		want   []string
		state  lipsync.DeliveryState
		why    string
	}{
		{"answers 200", answers(200), whole[:1], lipsync.DeliveryDelivered, ""},
		{"is down for an hour", down(time.Hour, 200), whole[:5], lipsync.DeliveryDelivered, ""},
		{"is down for good", problem(failure.NoHost), whole, lipsync.DeliveryFailed, "the host accepts no connections"},
		{"does not answer in 20 s", problem(failure.TooSlow), whole, lipsync.DeliveryFailed, "did not answer in time"},
		{"closes the connection half-way", problem(failure.Unavailable), whole, lipsync.DeliveryFailed, "connection failed"},
		{"redirects", answers(302), whole, lipsync.DeliveryFailed, "answered with status 302; redirects are not followed"},
		{"answers 500", answers(500), whole, lipsync.DeliveryFailed, "answered with status 500"},
		{"answers 400", answers(400), whole, lipsync.DeliveryFailed, "answered with status 400"},
		{"answers 410", answers(410), whole[:1], lipsync.DeliveryFailed, "answered with status 410"},
		{"answers 503 for an hour, with Retry-After of an hour", busy(time.Hour), []string{"0s", "1h0m0s"}, lipsync.DeliveryDelivered, ""},
		{"answers 503 with Retry-After of a week, in 5 days", busy(7 * 24 * time.Hour), []string{"0s", "24h0m0s", "48h0m0s", "72h0m0s", "96h0m0s", "120h0m0s"}, lipsync.DeliveryWaiting, "answered with status 503"},
	}
	check.Want(t, "rows in docs/webhooks.md", len(rows), len(cases))
	for n, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			f.Random = quiet{f.Random}
			r := f.withReceiver(c.answer)
			w := f.webhook(t)
			_, err := f.TestWebhook(t.Context(), f.caller, w.ID)
			check.Must(t, err)
			for f.clock.Now().Sub(lipsynctest.Start()) <= 5*24*time.Hour {
				f.deliverDue(t)
				next := f.deliveries(t, w)[0].Due
				if next.IsZero() {
					break
				}
				f.clock.Advance(next.Sub(f.clock.Now()))
			}
			var at []string
			for _, call := range r.calls {
				at = append(at, call.at.String())
				check.Want(t, "id", call.id, r.calls[0].id)
			}
			if !slices.Equal(at, c.want) {
				t.Errorf("sent after %v, want %v", at, c.want)
			}
			d := f.deliveries(t, w)[0]
			check.Want(t, "state", d.State, c.state)
			check.Want(t, "problem", d.Problem, c.why)
			after, err := f.Webhook(t.Context(), f.caller, w.ID)
			check.Must(t, err)
			check.Want(t, "disabled", !after.DisabledAt.IsZero(), c.name == "answers 410")
			then := strings.TrimSuffix(string(d.State)+": "+d.Problem, ": ")
			if !after.DisabledAt.IsZero() {
				then += "; the webhook is disabled"
			}
			attempts := short.Replace(strings.Join(at, ", "))
			if n > 0 && slices.Equal(c.want, cases[n-1].want) {
				attempts = "the same"
			}
			check.Want(t, "row in docs/webhooks.md", rows[n], fmt.Sprintf("| %s | %s | %s |", c.name, attempts, then))
		})
	}
}

// TestOwnFaults has faults of the service in place of calls, and calls that the end of the process cuts off. The webhook
// still gets the whole schedule of attempts afterwards.
func TestOwnFaults(t *testing.T) {
	f := newFixture(t)
	f.Random = quiet{f.Random}
	r := f.withReceiver(answers(500))
	w := f.webhook(t)
	d, err := f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	body := f.EventBody
	broken := errors.New("store is away")
	f.EventBody = func(lipsync.Delivery, lipsync.Subject) ([]byte, error) { return nil, broken }
	for range 20 {
		if err := f.Deliver(t.Context(), w.ID, d.ID); !errors.Is(err, broken) {
			t.Fatalf("got %v, want the fault", err)
		}
		f.clock.Advance(time.Minute)
	}
	f.EventBody = body
	ending, end := context.WithCancel(t.Context())
	r.answer = func(post) (lipsync.Answer, error) {
		end()
		return lipsync.Answer{}, ending.Err()
	}
	if err := f.Deliver(ending, w.ID, d.ID); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the end of the process", err)
	}
	check.Want(t, "state", f.deliveries(t, w)[0].State, lipsync.DeliverySending)
	f.Store.Webhooks = fewDue{f.Store.Webhooks, t}
	check.Must(t, f.Recover(t.Context()))
	check.Want(t, "state after the next start", f.deliveries(t, w)[0].State, lipsync.DeliveryWaiting)
	check.Want(t, "due", f.deliveries(t, w)[0].Due, f.clock.Now())
	got := f.deliveries(t, w)[0]
	check.Want(t, "attempts", fmt.Sprint(got.Attempts, got.AttemptedAt.IsZero()), "0 true")
	r.calls, r.answer = nil, answers(500)
	for next := f.clock.Now(); !next.IsZero(); next = f.deliveries(t, w)[0].Due {
		f.clock.Advance(next.Sub(f.clock.Now()))
		f.deliverDue(t)
	}
	check.Want(t, "calls", len(r.calls), 10)
	got = f.deliveries(t, w)[0]
	check.Want(t, "last attempt", got.AttemptedAt, f.clock.Now())
	check.Want(t, "state", got.State, lipsync.DeliveryFailed)
}

// fewDue lets the test fail if more than 1000 deliveries could be read at once.
type fewDue struct {
	lipsync.Webhooks
	t *testing.T
}

func (w fewDue) Due(ctx context.Context, webhook string, now time.Time, limit int) ([]lipsync.Delivery, error) {
	if limit > 1000 {
		w.t.Errorf("up to %d deliveries are read at once", limit)
	}
	return w.Webhooks.Due(ctx, webhook, now, limit)
}

// quiet gives zeros where one byte is read, as for jitter.
type quiet struct {
	all interface{ Read([]byte) (int, error) }
}

func (q quiet) Read(b []byte) (int, error) {
	if len(b) == 1 {
		b[0] = 0
		return 1, nil
	}
	return q.all.Read(b)
}

// TestSignatures checks each call by the library of Standard Webhooks, before, during and after a
// rotation.
func TestSignatures(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(200))
	w := f.webhook(t)
	first, second := w.Secret, ""
	for _, c := range []struct {
		after    time.Duration
		rotate   bool
		old, new bool // which secrets must verify
	}{{0, false, true, false}, {0, true, true, true}, {24*time.Hour - time.Second, false, true, true}, {time.Second, false, false, true}} {
		f.clock.Advance(c.after)
		if c.rotate {
			rotated, err := f.RotateWebhook(t.Context(), f.caller, w.ID)
			check.Must(t, err)
			second = rotated.Secret
		}
		d, err := f.TestWebhook(t.Context(), f.caller, w.ID)
		check.Must(t, err)
		check.Must(t, f.Deliver(t.Context(), w.ID, d.ID))
		call := r.calls[len(r.calls)-1]
		check.Want(t, "webhook-id", call.id, d.ID)
		check.Want(t, "webhook-timestamp", call.header.Get("webhook-timestamp"), fmt.Sprint(f.clock.Now().Unix()))
		check.Want(t, "the old secret verifies", verifies(t, first, call), c.old)
		check.Want(t, "the new secret verifies", second != "" && verifies(t, second, call), c.new)
		call.body = append(slices.Clone(call.body), ' ')
		check.Want(t, "another body verifies", verifies(t, first, call), false)
	}
	if strings.TrimPrefix(first, "whsec_") == first || len(first) < 38 || first == second {
		t.Errorf("got the secrets %q and %q", first, second)
	}
}

// verifies reports whether the library of Standard Webhooks accepts the call. The test's clock isn't that
// of the library.
func verifies(t *testing.T, secret string, call post) bool {
	t.Helper()
	w, err := standardwebhooks.NewWebhook(secret)
	check.Must(t, err)
	return w.VerifyIgnoringTimestamp(call.body, call.header) == nil
}

// startRequest makes a request and claims it.
func (f *fixture) startRequest(t *testing.T, webhookURL *string) lipsync.Request {
	t.Helper()
	p := urls()
	p.WebhookURL = webhookURL
	id, err := f.Generate(t.Context(), f.caller, p)
	check.Must(t, err)
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	return r
}

// TestOrder has receivers that fail for a while, and an event that happens meanwhile. The later event of
// a request must wait for the earlier one, and other requests must not.
func TestOrder(t *testing.T) {
	f := newFixture(t)
	var stuck string
	r := f.withReceiver(func(p post) (lipsync.Answer, error) {
		if strings.Contains(string(p.body), stuck) && p.at < 10*time.Minute {
			return lipsync.Answer{Status: 500}, nil
		}
		return lipsync.Answer{Status: 200}, nil
	})
	f.webhook(t)
	slow, quick := f.startRequest(t, nil), f.startRequest(t, nil)
	stuck = slow.ID
	f.deliverDue(t)
	for _, q := range []lipsync.Request{slow, quick} {
		f.clock.Advance(time.Second)
		check.Must(t, f.Complete(t.Context(), q, strings.NewReader("o"), 1))
	}
	for range 4 * 3600 {
		f.deliverDue(t)
		f.clock.Advance(time.Second)
	}
	got := map[string][]string{}
	for _, p := range r.calls {
		for name, id := range map[string]string{"slow": slow.ID, "quick": quick.ID} {
			if strings.Contains(string(p.body), id) {
				got[name] = append(got[name], strings.TrimPrefix(string(p.kind), "lipsync."))
			}
		}
	}
	check.Want(t, "calls of the slow one", strings.Join(got["slow"], " "), "processing processing processing processing completed")
	check.Want(t, "calls of the quick one", strings.Join(got["quick"], " "), "processing completed")
	if i := slices.IndexFunc(r.calls, func(p post) bool { return p.kind == lipsync.RequestCompleted }); r.calls[i].at > 5*time.Second {
		t.Errorf("the quick one waited until %s", r.calls[i].at)
	}
}

// raced has webhooks in which something else happens right after a delivery was read for the first time.
type raced struct {
	lipsync.Webhooks
	id    string
	after func()
}

func (r *raced) Delivery(ctx context.Context, webhook, id string) (lipsync.Delivery, error) {
	d, err := r.Webhooks.Delivery(ctx, webhook, id)
	if after := r.after; id == r.id && after != nil {
		r.after = nil
		after()
	}
	return d, err
}

// TestOrderRace lets the earlier event of a request end just after the later one saw that it must wait. The later one must not wait
// until the hold of the earlier one would have ended.
func TestOrderRace(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(200))
	w := f.webhook(t)
	q := f.startRequest(t, nil)
	first := f.deliveries(t, w)[0]
	first.State, first.Due = lipsync.DeliverySending, f.clock.Now().Add(time.Minute)
	check.Must(t, f.Store.Webhooks.Swap(t.Context(), first))
	check.Must(t, f.Complete(t.Context(), q, strings.NewReader("o"), 1))
	store := f.Store.Webhooks
	f.Store.Webhooks = &raced{Webhooks: store, id: first.ID, after: func() {
		first.Version++
		first.State, first.Due = lipsync.DeliveryDelivered, time.Time{}
		check.Must(t, store.Swap(t.Context(), first))
	}}
	check.Must(t, f.Deliver(t.Context(), w.ID, f.deliveries(t, w)[0].ID))
	check.Want(t, "calls", len(r.calls), 1)
	check.Want(t, "event", r.calls[0].kind, lipsync.RequestCompleted)
}

// TestEventBody checks the bodies of all events of a request. Each has the request as it was then.
func TestEventBody(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(200))
	w := f.webhook(t)
	q := f.startRequest(t, nil)
	f.clock.Advance(time.Minute)
	check.Must(t, f.Complete(t.Context(), q, strings.NewReader("o"), 1)) // before anything was sent
	canceled := f.startRequest(t, nil)
	_, err := f.Cancel(t.Context(), f.caller, canceled.ID)
	check.Must(t, err)
	_, err = f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	f.deliverDue(t)
	bodies := map[lipsync.EventType]map[string]any{}
	for _, call := range r.calls {
		var body map[string]any
		check.Must(t, json.Unmarshal(call.body, &body))
		if data := body["data"].(map[string]any); data["id"] == q.ID || call.kind != lipsync.RequestProcessing {
			bodies[call.kind] = body
		}
	}
	data := func(kind lipsync.EventType) map[string]any { return bodies[kind]["data"].(map[string]any) }
	check.Want(t, "processing", fmt.Sprintln(data(lipsync.RequestProcessing)["status"], data(lipsync.RequestProcessing)["output_url"], data(lipsync.RequestProcessing)["finished_at"]), "processing <nil> <nil>\n")
	check.Want(t, "time", fmt.Sprint(bodies[lipsync.RequestProcessing]["timestamp"]), lipsynctest.Start().Format(time.RFC3339Nano))
	completed := data(lipsync.RequestCompleted)
	check.Want(t, "completed", fmt.Sprintln(completed["status"], completed["id"] == q.ID), "completed true\n")
	if !strings.Contains(fmt.Sprint(completed["output_url"]), q.ID) {
		t.Errorf("got %v, want a link to the output", completed)
	}
	check.Want(t, "canceled", fmt.Sprint(data(lipsync.RequestCanceled)["error_message"]), "canceled by the client")
	check.Want(t, "test", fmt.Sprint(data(lipsync.TestEvent)), fmt.Sprint(map[string]any{"webhook_id": w.ID}))
}

// TestWebhookURL sends the events of one request to a URL with a query.
func TestWebhookURL(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(200))
	w, err := f.CreateWebhook(t.Context(), f.caller, "https://example.com/hook", []lipsync.EventType{})
	check.Must(t, err)
	f.startRequest(t, nil)
	named := f.startRequest(t, new("https://EXAMPLE.com/hook?job=1"))
	f.deliverDue(t)
	check.Want(t, "calls", len(r.calls), 1)
	check.Want(t, "URL", r.calls[0].url, "https://EXAMPLE.com/hook?job=1")
	check.Want(t, "request", f.deliveries(t, w)[0].Request, named.ID)
	for url, message := range map[string]string{
		"https://example.com/other": "webhook_url must be the URL of a webhook of the account, with any query",
		"example.com/hook":          "webhook_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes",
		"":                          "webhook_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes",
	} {
		p := urls()
		p.WebhookURL = &url
		_, err := f.Generate(t.Context(), f.caller, p)
		check.Error(t, url, err, failure.Invalid, message)
	}
}

// TestRedeliver sends an event again, with the same id and all attempts.
func TestRedeliver(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(200))
	w := f.webhook(t)
	d, err := f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	_, err = f.Redeliver(t.Context(), f.caller, w.ID, d.ID)
	check.Error(t, "pending", err, failure.Unfinished, "delivery is not finished")
	f.deliverDue(t)
	again, err := f.Redeliver(t.Context(), f.caller, w.ID, d.ID)
	check.Must(t, err)
	check.Want(t, "state", again.State, lipsync.DeliveryWaiting)
	r.answer = answers(500)
	f.deliverDue(t)
	check.Want(t, "calls", len(r.calls), 2)
	check.Want(t, "id", r.calls[1].id, r.calls[0].id)
	check.Want(t, "attempts", f.deliveries(t, w)[0].Attempts, 1)
	for _, id := range []string{"", "x", strings.Repeat("é", 300)} {
		_, err = f.Redeliver(t.Context(), f.caller, w.ID, id)
		check.Error(t, id, err, failure.NotFound, "delivery not found")
	}
	_, err = f.Redeliver(t.Context(), lipsync.Caller{Account: "other"}, w.ID, d.ID)
	check.Error(t, "other account", err, failure.NotFound, "webhook not found")
}

// TestRedeliverEarlier sends the first event of a request again while the last one waits for its next attempt. That one keeps its pause.
func TestRedeliverEarlier(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(200))
	w := f.webhook(t)
	q := f.startRequest(t, nil)
	f.deliverDue(t)
	check.Must(t, f.Complete(t.Context(), q, strings.NewReader("o"), 1))
	r.answer = answers(500)
	f.deliverDue(t)
	r.answer = answers(200)
	_, err := f.Redeliver(t.Context(), f.caller, w.ID, f.deliveries(t, w)[1].ID)
	check.Must(t, err)
	f.deliverDue(t)
	var kinds []string
	for _, p := range r.calls {
		kinds = append(kinds, strings.TrimPrefix(string(p.kind), "lipsync."))
	}
	check.Want(t, "calls", strings.Join(kinds, " "), "processing completed processing")
}

// TestRedeliverInOrder sends both undelivered events of a request again, together. The last one waits for the first.
func TestRedeliverInOrder(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(410))
	w := f.webhook(t)
	q := f.startRequest(t, nil)
	check.Must(t, f.Complete(t.Context(), q, strings.NewReader("o"), 1))
	f.deliverDue(t)
	_, err := f.EnableWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	n, _, err := f.RedeliverAll(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	check.Want(t, "sent again", n, 2)
	r.answer, r.calls = answers(200), nil
	check.Must(t, f.Deliver(t.Context(), w.ID, f.deliveries(t, w)[0].ID)) // the last one
	check.Want(t, "calls before the first", len(r.calls), 0)
	f.deliverDue(t)
	var kinds []string
	for _, p := range r.calls {
		kinds = append(kinds, strings.TrimPrefix(string(p.kind), "lipsync."))
	}
	check.Want(t, "calls", strings.Join(kinds, " "), "processing completed")
}

// TestDeleteWebhook deletes a webhook with deliveries that wait.
func TestDeleteWebhook(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(200))
	w := f.webhook(t)
	q := f.startRequest(t, nil)
	d, err := f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	_, err = f.DeleteWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	check.Must(t, f.Complete(t.Context(), q, strings.NewReader("o"), 1))
	check.Must(t, f.Deliver(t.Context(), w.ID, d.ID))
	f.deliverDue(t)
	check.Want(t, "calls", len(r.calls), 0)
	_, err = f.Store.Webhooks.Delivery(t.Context(), w.ID, d.ID)
	check.Want(t, "dropped", failure.CodeOf(err), failure.NotFound)
	_, err = f.DeleteWebhook(t.Context(), f.caller, w.ID)
	check.Error(t, "again", err, failure.NotFound, "webhook not found")
}

// TestDisabled has a receiver that answers 410 while other deliveries wait.
func TestDisabled(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(410))
	w := f.webhook(t)
	for range 3 {
		_, err := f.TestWebhook(t.Context(), f.caller, w.ID)
		check.Must(t, err)
	}
	f.deliverDue(t)
	check.Want(t, "calls", len(r.calls), 1)
	problems := map[string]int{}
	for _, d := range f.deliveries(t, w) {
		check.Want(t, "state", d.State, lipsync.DeliveryFailed)
		problems[d.Problem]++
	}
	check.Want(t, "problems", fmt.Sprint(problems), fmt.Sprint(map[string]int{"answered with status 410": 1, "webhook is disabled": 2}))
	for _, call := range []func() (lipsync.Delivery, error){
		func() (lipsync.Delivery, error) { return f.TestWebhook(t.Context(), f.caller, w.ID) },
		func() (lipsync.Delivery, error) {
			return f.Redeliver(t.Context(), f.caller, w.ID, f.deliveries(t, w)[0].ID)
		},
	} {
		_, err := call()
		check.Error(t, "disabled", err, failure.Finished, "webhook is disabled, since its URL answered 410; enable it first")
	}
	f.startRequest(t, nil)
	check.Want(t, "deliveries", len(f.deliveries(t, w)), 3)
	named := urls()
	named.WebhookURL = new(w.URL + "?job=1")
	_, err := f.Generate(t.Context(), f.caller, named)
	check.Error(t, "webhook_url", err, failure.Invalid, "webhook_url names a webhook that is disabled, since its URL answered 410; enable it first")
	_, err = f.EnableWebhook(t.Context(), lipsync.Caller{Account: "other"}, w.ID)
	check.Error(t, "other account", err, failure.NotFound, "webhook not found")
	enabled, err := f.EnableWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	check.Want(t, "enabled", enabled.DisabledAt.IsZero(), true)
	f.GenerateRate = 10
	r.answer = answers(200)
	_, err = f.Generate(t.Context(), f.caller, named)
	check.Must(t, err)
	_, err = f.Redeliver(t.Context(), f.caller, w.ID, f.deliveries(t, w)[0].ID)
	check.Must(t, err)
	f.deliverDue(t)
	check.Want(t, "calls after it was enabled", len(r.calls), 2)
}

// TestWebhookLimits reaches the limits on webhooks and on undelivered events.
func TestWebhookLimits(t *testing.T) {
	f := newFixture(t)
	f.withReceiver(answers(500))
	f.Limits.Webhooks, f.Limits.Undelivered = 2, 3
	f.webhook(t)
	w := f.webhook(t)
	_, err := f.CreateWebhook(t.Context(), f.caller, "https://example.com/third", nil)
	check.Error(t, "third", err, failure.WebhookLimit, "account has as many webhooks as it may have, 2; delete one first")
	f.startRequest(t, nil)
	f.startRequest(t, nil)
	check.Must(t, f.Sweep(t.Context()))
	_, err = f.Generate(t.Context(), f.caller, urls())
	check.Error(t, "fourth event", err, failure.EventLimit, "account has as many undelivered events as it may have, 3; delete the webhook that doesn't take them, or try again later")
	check.Want(t, "seconds", failure.RetrySeconds(err), 60)
	_, err = f.DeleteWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	check.Must(t, f.Sweep(t.Context()))
	_, err = f.Generate(t.Context(), f.caller, urls())
	check.Must(t, err)
	_, err = f.CreateWebhook(t.Context(), f.caller, "https://example.com/hook0?a=1", nil)
	check.Error(t, "same URL", err, failure.SameWebhook, "account already has a webhook with this URL")
	_, err = f.CreateWebhook(t.Context(), f.caller, "https://example.com/x", []lipsync.EventType{"x"})
	check.Error(t, "unknown event", err, failure.Invalid, "events must be of: lipsync.processing, lipsync.completed, lipsync.failed, lipsync.canceled, batch.completed")
	_, err = f.CreateWebhook(t.Context(), f.caller, "https://example.com/x", []lipsync.EventType{"lipsync.failed", "lipsync.failed"})
	check.Error(t, "twice", err, failure.Invalid, "events has lipsync.failed twice")
	_, err = f.CreateWebhook(t.Context(), f.caller, "ftp://example.com/x", nil)
	check.Error(t, "bad URL", err, failure.Invalid, "url must be an absolute http or https URL with a host, no user name and at most 8192 bytes")
}

// announced is a lipsync.Announcer that counts the announced deliveries of each webhook.
type announced map[string]int

func (a announced) Announce(_ context.Context, webhook, _ string, _ time.Duration) error {
	a[webhook]++
	return nil
}

// TestSweepBesideFullWebhook sweeps an account whose first webhook has as many deliveries as the account may have. Those of the second
// one must be announced too.
func TestSweepBesideFullWebhook(t *testing.T) {
	f := newFixture(t)
	f.Limits.Undelivered = 2
	full, other := f.webhook(t), f.webhook(t)
	for _, w := range []lipsync.Webhook{full, full, other} {
		_, err := f.TestWebhook(t.Context(), f.caller, w.ID)
		check.Must(t, err)
	}
	found := announced{}
	f.Announcer = found
	check.Must(t, f.Sweep(t.Context()))
	check.Want(t, "of the full one", found[full.ID], 2)
	check.Want(t, "of the other one", found[other.ID], 1)
}

// slowly is a lipsync.Announcer whose calls take a second each, on the clock.
type slowly struct {
	clock *lipsynctest.Clock
	mu    sync.Mutex
	found map[string]int // by webhook
}

func (s *slowly) Announce(_ context.Context, webhook, _ string, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.Advance(time.Second)
	s.found[webhook]++
	return nil
}

// TestSweepOfManyAccounts has more accounts with many due deliveries than a sweep can do. After some sweeps each had its turn, and no
// sweep takes longer than it may.
func TestSweepOfManyAccounts(t *testing.T) {
	f := newFixture(t)
	const accounts = 40
	var hooks []string
	for i := range accounts {
		c := lipsync.Caller{Account: fmt.Sprint("account", i)}
		w, err := f.CreateWebhook(t.Context(), c, "https://example.com/hook", nil)
		check.Must(t, err)
		hooks = append(hooks, w.ID)
		for range 30 {
			check.Must(t, f.Store.Webhooks.Add(t.Context(), lipsync.NewTest(w.ID, c.Account, f.NewID(), f.Now())))
		}
	}
	found := &slowly{clock: f.clock, found: map[string]int{}}
	f.Announcer = found
	missing := func() (n int) {
		for _, w := range hooks {
			if found.found[w] == 0 {
				n++
			}
		}
		return n
	}
	for sweep := 1; missing() > 0; sweep++ {
		began := f.clock.Now()
		check.Must(t, f.Sweep(t.Context()))
		if took := f.clock.Now().Sub(began); took > 40*time.Second {
			t.Fatalf("the sweep took %s", took)
		}
		if sweep == 1000 { // each account has a chance of at least 1/40 to be the first of a sweep
			t.Fatalf("after %d sweeps %d accounts had no turn", sweep, missing())
		}
	}
}

// TestDeliverDue runs the loop of one machine with a receiver that never answers, and one that is quick. The
// quick one must get everything.
func TestDeliverDue(t *testing.T) {
	f := newFixture(t)
	never, got := make(chan struct{}), make(chan string, 1000)
	f.withReceiver(func(p post) (lipsync.Answer, error) {
		if strings.HasSuffix(p.url, "hook0") {
			<-never
			return lipsync.Answer{}, errors.New("stopped")
		}
		got <- p.id
		return lipsync.Answer{Status: 200}, nil
	})
	hangs, quick := f.webhook(t), f.webhook(t)
	ctx, stop := context.WithCancel(t.Context())
	wake, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		f.DeliverDue(ctx, wake)
	}()
	const n = 50
	for range n {
		for _, w := range []lipsync.Webhook{hangs, quick} {
			check.Must(t, f.Store.Webhooks.Add(t.Context(), lipsync.NewTest(w.ID, f.caller.Account, f.NewID(), f.Now())))
		}
	}
	wake <- struct{}{}
	seen := map[string]bool{}
	for len(seen) < n {
		seen[<-got] = true
	}
	stop()
	close(never)
	<-ended
	check.Want(t, "sent twice", len(got), 0)
	sending := 0
	for _, d := range f.deliveries(t, hangs) {
		if d.State == lipsync.DeliverySending {
			sending++
		}
	}
	check.Want(t, "calls of the one that hangs, at a time", sending, 8)
}
