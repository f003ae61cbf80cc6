package lipsync

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// DeliveryState is the state of a delivery. It goes from waiting to sending at each attempt. Delivered
// and undelivered are final, until the client asks for another delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaiting   DeliveryState = "waiting"     // for Due
	DeliverySending   DeliveryState = "sending"     // an attempt runs, until Due at most
	DeliveryDelivered DeliveryState = "delivered"   // the webhook answered 2xx
	DeliveryFailed    DeliveryState = "undelivered" // all attempts failed, or the webhook is disabled
)

// Pending reports whether the delivery is not final.
func (s DeliveryState) Pending() bool { return s == DeliveryWaiting || s == DeliverySending }

// Delivery is one event for one webhook.
type Delivery struct {
	ID        string // of the event, the same for all webhooks: see eventID; sorts by time
	Webhook   string // id of the webhook
	Account   string
	Type      EventType
	Request   string    // id of the request, or the batch, that the event is about; "" for a TestEvent
	After     string    // ID of the delivery to the same webhook that must be final before; "" for none
	URL       string    // the webhook_url of the request; "" for the webhook's own URL
	CreatedAt time.Time // when the event happened

	State    DeliveryState
	Due      time.Time // see DeliveryState; zero if final
	Attempts int       // that ended, since it was made or since the client asked for another delivery

	AttemptedAt time.Time // begin of the last attempt that ended; zero before
	Status      int       // of the last answer; 0 if there was none
	Problem     string    // why the last attempt failed, in a sentence for the client; "" if it didn't

	Version int64 // grows with each change
}

// KeepDeliveries is the time for which deliveries are kept after their event.
const KeepDeliveries = 30 * 24 * time.Hour

// eventID returns the id of an event of a request or a batch. It follows from the record, and it sorts by the
// time of the event. The first event of a request has the rank 1, the last one 2.
func eventID(at time.Time, rank int, subject string) string {
	return fmt.Sprintf("msg_%016x%d%s", at.UnixMicro(), rank, strings.ReplaceAll(subject, "-", ""))
}

// newEvent returns an event of the rank, as a delivery that names no webhook.
func newEvent(t EventType, account, subject string, at time.Time, rank int) Delivery {
	at = StoredTime(at)
	return Delivery{
		ID: eventID(at, rank, subject), Account: account, Type: t, Request: subject, CreatedAt: at, State: DeliveryWaiting, Due: at, Version: 1,
	}
}

// NewTest returns a delivery of a TestEvent, with an id of its own, to a webhook of the account.
func NewTest(webhook, account, id string, now time.Time) Delivery {
	d := newEvent(TestEvent, account, id, now, 0)
	d.Webhook, d.Request = webhook, ""
	return d
}

// Subject is what an event is about: a request or a batch. It is zero for a TestEvent.
type Subject struct {
	Request Request  // as it was when the event happened
	Output  *url.URL // a signed URL of the request's output, or nil
	Batch   Batch
}

// Event returns the event that the request's present status stands for, as a delivery that names no webhook. ok is false if it is queued.
func (r Request) Event() (event Delivery, ok bool) {
	switch {
	case r.Status == Processing:
		return newEvent(RequestProcessing, r.Account, r.ID, r.StartedAt, 1), true
	case r.Status == Completed:
		return newEvent(RequestCompleted, r.Account, r.ID, r.FinishedAt, 2), true
	case r.Failed():
		return newEvent(RequestFailed, r.Account, r.ID, r.FinishedAt, 2), true
	case r.Status == Failed:
		return newEvent(RequestCanceled, r.Account, r.ID, r.FinishedAt, 2), true
	}
	return Delivery{}, false
}

// changed reports whether the status is another one than it was, which was not final.
func (r Request) changed(was Status) bool { return r.Status != was && !was.Final() }

// News returns the new deliveries of a request whose status was another one before. A store calls it
// in each change of a request, and writes the deliveries in the same transaction.
func (r Request) News(was Status) []Delivery {
	if !r.changed(was) {
		return nil
	}
	return r.Deliveries()
}

// Deliveries returns the deliveries of the event that the request's present status stands for, as News did when the status changed.
func (r Request) Deliveries() []Delivery {
	event, ok := r.Event()
	if !ok || len(r.Targets) == 0 {
		return nil
	}
	all := r.Targets.deliveries(event)
	if !r.Status.Final() || r.Claims == 0 {
		return all
	}
	started := r.Targets.deliveries(Delivery{Type: RequestProcessing})
	for i := range all {
		for _, before := range started {
			if before.Webhook == all[i].Webhook {
				all[i].After = eventID(StoredTime(r.StartedAt), 1, r.ID)
			}
		}
	}
	return all
}

// Change is a change of a request or of a batch, as a store's log of changes has it.
type Change struct {
	Was     Status  // status of the request before the change
	Request Request // after the change; zero if it is one of a batch
	Batch   Batch   // after the change; zero if it is one of a request
}

// BusEvent is an event for a Bus.
type BusEvent struct {
	ID   string // see Delivery.ID
	Type EventType
	At   time.Time // when it happened
	Body []byte    // JSON
}

// Event returns the event of the change, and what it is about. ok is false if it has none.
func (c Change) Event() (d Delivery, about Subject, ok bool) {
	if c.Batch.ID != "" {
		d, ok = c.Batch.event()
		return d, Subject{Batch: c.Batch}, ok
	}
	if c.Request.Kind != ToRender || !c.Request.changed(c.Was) {
		return Delivery{}, Subject{}, false
	}
	d, ok = c.Request.Event()
	return d, Subject{Request: c.Request}, ok
}
