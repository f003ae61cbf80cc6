package service_test

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

// TestUndeliveredTests sends more tests to a webhook than it may have in a minute, and tests and redeliveries of an account that has as many undelivered
// events as it may have. What waits for a deleted webhook is deleted.
func TestUndeliveredTests(t *testing.T) {
	f := newFixture(t)
	f.withReceiver(problem(failure.Unavailable))
	w, other := f.webhook(t), f.webhook(t)
	for n := range 10 {
		_, err := f.TestWebhook(t.Context(), f.caller, w.ID)
		check.Error(t, fmt.Sprint("test ", n), err, "", "")
	}
	_, err := f.TestWebhook(t.Context(), f.caller, w.ID)
	check.Error(t, "one more", err, failure.RateLimited, "rate limit exceeded")
	d, err := f.TestWebhook(t.Context(), f.caller, other.ID)
	check.Error(t, "another webhook", err, "", "")
	d.State, d.Due = lipsync.DeliveryFailed, time.Time{}
	check.Must(t, f.Store.Webhooks.Swap(t.Context(), d))
	f.Limits.Undelivered = 10
	check.Must(t, f.Sweep(t.Context()))
	const full = "account has as many undelivered events as it may have, 10; delete the webhook that doesn't take them, or try again later"
	_, err = f.TestWebhook(t.Context(), f.caller, other.ID)
	check.Error(t, "a test of a full account", err, failure.EventLimit, full)
	_, err = f.Redeliver(t.Context(), f.caller, other.ID, d.ID)
	check.Error(t, "a redelivery of a full account", err, failure.EventLimit, full)
	_, err = f.DeleteWebhook(t.Context(), f.caller, w.ID)
	check.Must(t, err)
	left, err := f.Store.Webhooks.Deliveries(t.Context(), w.ID, "", 100)
	check.Must(t, err)
	check.Want(t, "deliveries of the deleted webhook", len(left), 0)
	check.Must(t, f.Sweep(t.Context()))
	_, err = f.Redeliver(t.Context(), f.caller, other.ID, d.ID)
	check.Error(t, "a redelivery after that", err, "", "")
}
