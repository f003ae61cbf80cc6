package rest

import (
	"net/http"
	"net/url"
	"time"

	"lipsync/internal/domain/lipsync"
)

// webhookBody is the JSON body of a call that makes a webhook. Without events the webhook gets all.
type webhookBody struct {
	URL    string              `json:"url"`
	Events []lipsync.EventType `json:"events"`
}

// webhook is a webhook in an answer. Only the call that made a secret has it.
type webhook struct {
	ID             string              `json:"id"`
	URL            string              `json:"url"`
	Events         []lipsync.EventType `json:"events"`
	CreatedAt      time.Time           `json:"created_at"`
	DisabledAt     time.Time           `json:"disabled_at,omitzero"`
	FailingSince   time.Time           `json:"failing_since,omitzero"`
	NextAttemptAt  time.Time           `json:"next_attempt_at,omitzero"`
	Secret         string              `json:"secret,omitempty"`
	OldSecretUntil time.Time           `json:"old_secret_until,omitzero"`
	notices
}

func (a *api) viewWebhook(w lipsync.Webhook) webhook {
	v := webhook{ID: w.ID, URL: w.URL, Events: w.Events, CreatedAt: w.CreatedAt.UTC(), DisabledAt: w.DisabledAt.UTC(), FailingSince: w.FailingSince.UTC()}
	if v.Events == nil {
		v.Events = lipsync.EventTypes()
	}
	if a.service.Now().Before(w.OldUntil) {
		v.OldSecretUntil = w.OldUntil.UTC()
	}
	return v
}

// withSecret returns the view of a webhook with a new secret.
func (a *api) withSecret(w lipsync.Webhook) webhook {
	v := a.viewWebhook(w)
	v.Secret = w.Secret
	return v
}

func (a *api) createWebhook(r *http.Request, c lipsync.Caller, in sent[webhookBody]) (webhook, error) {
	w, err := a.service.CreateWebhook(r.Context(), c, in.value.URL, in.value.Events)
	return a.withSecret(w), err
}

func (a *api) listWebhooks(r *http.Request, c lipsync.Caller) (list[webhook], error) {
	all, err := a.service.Webhooks(r.Context(), c)
	return viewList(all, a.viewWebhook), err
}

func (a *api) getWebhook(r *http.Request, c lipsync.Caller) (webhook, error) {
	w, err := a.service.Webhook(r.Context(), c, r.PathValue("id"))
	v := a.viewWebhook(w)
	if err == nil {
		v.NextAttemptAt, err = a.service.NextAttempt(r.Context(), w)
	}
	return v, err
}

// delivery is an event for a webhook in an answer. Fields without a value are absent.
type delivery struct {
	ID            string                `json:"id"`
	Type          lipsync.EventType     `json:"type"`
	RequestID     string                `json:"request_id,omitempty"`
	BatchID       string                `json:"batch_id,omitempty"`
	CreatedAt     time.Time             `json:"created_at"`
	Status        lipsync.DeliveryState `json:"status"`
	Attempts      int                   `json:"attempts"`
	LastAttemptAt time.Time             `json:"last_attempt_at,omitzero"`
	LastStatus    int                   `json:"last_status,omitzero"`
	LastError     string                `json:"last_error,omitempty"`
	NextAttemptAt time.Time             `json:"next_attempt_at,omitzero"`
}

func (*api) viewDelivery(d lipsync.Delivery) delivery {
	v := delivery{
		ID: d.ID, Type: d.Type, CreatedAt: d.CreatedAt.UTC(), Status: d.State, Attempts: d.Attempts,
		LastAttemptAt: d.AttemptedAt.UTC(), LastStatus: d.Status, LastError: d.Problem,
	}
	if d.Type == lipsync.BatchFinished {
		v.BatchID = d.Request
	} else {
		v.RequestID = d.Request
	}
	if d.State == lipsync.DeliveryWaiting {
		v.NextAttemptAt = d.Due.UTC()
	}
	return v
}

func (a *api) redeliver(r *http.Request, c lipsync.Caller) (delivery, error) {
	d, err := a.service.Redeliver(r.Context(), c, r.PathValue("id"), r.PathValue("delivery"))
	return a.viewDelivery(d), err
}

// redelivered says how many events a call sends again, and whether more may be left.
type redelivered struct {
	Redelivered int  `json:"redelivered"`
	More        bool `json:"more"`
}

func (a *api) redeliverAll(r *http.Request, c lipsync.Caller) (redelivered, error) {
	n, more, err := a.service.RedeliverAll(r.Context(), c, r.PathValue("id"))
	return redelivered{n, more}, err
}

// listDeliveries returns a page of the deliveries to a webhook, newest first.
func (a *api) listDeliveries(r *http.Request, c lipsync.Caller) (list[delivery], error) {
	limit, before, err := parsePageQuery(r.URL.RawQuery, "delivery")
	if err != nil {
		return list[delivery]{}, err
	}
	all, err := a.service.Deliveries(r.Context(), c, r.PathValue("id"), before, limit)
	return viewList(all, a.viewDelivery), err
}

// event is the body of a call of a webhook.
type event struct {
	Type      lipsync.EventType `json:"type"`
	Timestamp time.Time         `json:"timestamp"`
	Data      any               `json:"data"`
}

// testData is the data of a test event.
type testData struct {
	WebhookID string `json:"webhook_id"`
}

// EventBody returns the function for base.Ports.EventBody. A relative link to an output becomes
// absolute by the address base, which may be nil if there are none.
func EventBody(base *url.URL) func(lipsync.Delivery, lipsync.Subject) ([]byte, error) {
	return func(d lipsync.Delivery, about lipsync.Subject) ([]byte, error) {
		return encode(viewEvent(d, about, base))
	}
}

// busEvent is the JSON of an event on a bus.
type busEvent struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	event
}

// BusEventBody is base.Ports.EventBody for a Bus. The URLs of outputs must be absolute.
func BusEventBody(d lipsync.Delivery, about lipsync.Subject) ([]byte, error) {
	return encode(busEvent{d.ID, d.Account, viewEvent(d, about, nil)})
}

func viewEvent(d lipsync.Delivery, about lipsync.Subject, base *url.URL) event {
	body := event{Type: d.Type, Timestamp: d.CreatedAt.UTC()}
	switch d.Type {
	case lipsync.TestEvent:
		body.Data = testData{d.Webhook}
	case lipsync.BatchFinished:
		body.Data = viewBatch(about.Batch)
	default:
		v := viewOf(about.Request)
		if output := about.Output; output != nil && base != nil {
			v.OutputURL = base.ResolveReference(output).String()
		} else if output != nil {
			v.OutputURL = output.String()
		}
		body.Data = v
	}
	return body
}
