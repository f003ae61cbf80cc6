package service_test

import (
	"net/http"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

// wantFailing checks since when a webhook fails, and that the next attempt at it is due up to a fifth of the pause later than after that.
func (f *fixture) wantFailing(t *testing.T, when, id string, since time.Time, pause time.Duration) {
	t.Helper()
	w, err := f.Webhook(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, when+": failing since", w.FailingSince, since)
	got, err := f.NextAttempt(t.Context(), w)
	check.Must(t, err)
	if pause == 0 {
		check.Want(t, when+": next attempt", got, time.Time{})
	} else if wait := got.Sub(f.clock.Now()); wait < pause || wait > pause*6/5 {
		t.Errorf("%s: the next attempt is in %v, want %v or a little later", when, wait, pause)
	}
}

// TestFailingWebhook has a receiver that fails for two hours.
func TestFailingWebhook(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(500))
	w := f.webhook(t)
	f.wantFailing(t, "before", w.ID, time.Time{}, 0)
	_, err := f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	first := f.clock.Now()
	f.deliverDue(t)
	f.wantFailing(t, "after one attempt", w.ID, first, 5*time.Second)
	f.clock.Advance(6 * time.Second)
	f.deliverDue(t)
	f.wantFailing(t, "after two", w.ID, first, 5*time.Minute)
	f.clock.Advance(2 * time.Hour)
	r.answer = answers(http.StatusNoContent)
	f.deliverDue(t)
	f.wantFailing(t, "after one that succeeded", w.ID, time.Time{}, 0)
	r.answer = answers(http.StatusGone)
	_, err = f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	f.deliverDue(t)
	f.wantFailing(t, "after 410", w.ID, f.clock.Now(), 0)
}

// TestRedeliverAll has events that wait, that are undelivered and that were delivered, more than one call sends again.
func TestRedeliverAll(t *testing.T) {
	f := newFixture(t)
	r := f.withReceiver(answers(500))
	w := f.webhook(t)
	add := func(n int, state lipsync.DeliveryState) {
		t.Helper()
		for range n {
			d := lipsync.NewTest(w.ID, "a", f.NewID(), f.clock.Now())
			check.Must(t, f.Store.Webhooks.Add(t.Context(), d))
			if d.State, d.Attempts, d.Due = state, 3, d.Due.Add(time.Hour); !state.Pending() {
				d.Due = time.Time{}
			}
			check.Must(t, f.Store.Webhooks.Swap(t.Context(), d))
		}
	}
	add(70, lipsync.DeliveryWaiting)
	add(50, lipsync.DeliveryFailed)
	add(5, lipsync.DeliveryDelivered)
	redeliver := func(what string, n int, more bool) {
		t.Helper()
		got, left, err := f.RedeliverAll(t.Context(), f.caller, w.ID)
		check.Must(t, err)
		check.Want(t, what, got, n)
		check.Want(t, what+": more", left, more)
	}
	redeliver("first", 100, true)
	redeliver("second", 20, false)
	redeliver("third", 0, false)
	r.answer = answers(200)
	f.deliverDue(t)
	check.Want(t, "calls", len(r.calls), 120)
	for range 7 {
		redeliver("when nothing is left", 0, false)
	}
	_, _, err := f.RedeliverAll(t.Context(), f.caller, w.ID)
	check.Error(t, "the eleventh call in a minute", err, failure.RateLimited, "rate limit exceeded")
	_, err = f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Error(t, "a test after it", err, failure.RateLimited, "rate limit exceeded")

	f.clock.Advance(time.Minute)
	add(3, lipsync.DeliveryWaiting)
	add(4, lipsync.DeliveryFailed)
	f.Limits.Undelivered = 3
	check.Must(t, f.Sweep(t.Context()))
	redeliver("of a full account", 3, false)
	for range 1000 {
		check.Must(t, f.Store.Webhooks.Add(t.Context(), lipsync.NewTest(w.ID, "a", f.NewID(), f.clock.Now())))
	}
	redeliver("behind many that are due", 0, true)
	_, stranger := f.newCaller(t, "b", 0)
	_, _, err = f.RedeliverAll(t.Context(), stranger, w.ID)
	check.Error(t, "of another account", err, failure.NotFound, "webhook not found")
}
