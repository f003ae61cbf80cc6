// Package webhooks keeps the webhooks of accounts, and delivers events to them and to the bus.
package webhooks

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

const (
	// secretLife is the time for which the old secret of a webhook signs too, after a rotation.
	secretLife = 24 * time.Hour
	// secretPrefix begins each secret, as Standard Webhooks says.
	secretPrefix = "whsec_"
	// secretBytes is the number of random bytes in a secret. Standard Webhooks allows 24 to 64.
	secretBytes = 32
	// testRate is the number of test events and calls of RedeliverAll of a webhook in a minute: nobody has proved that its server is the client's.
	testRate = 10
	// mostAtOnce is the number of deliveries that one call of RedeliverAll makes due.
	mostAtOnce = 100
	// putTries is the number of times that a change of an account's webhooks is tried.
	putTries = 5
)

// Service keeps the webhooks of accounts, and sends events to them and to the Bus.
type Service struct{ *base.Base }

// New returns a Service.
func New(b *base.Base) *Service { return &Service{b} }

// CreateWebhook makes a webhook with a new secret. It returns WebhookLimit if the account has as many
// webhooks as it may have.
func (s *Service) CreateWebhook(ctx context.Context, c lipsync.Caller, rawURL string, events []lipsync.EventType) (made lipsync.Webhook, err error) {
	if !order.ValidURL(rawURL) {
		return lipsync.Webhook{}, failure.New(failure.Invalid, order.URLRule("url", rawURL))
	}
	if err := checkEvents(events); err != nil {
		return lipsync.Webhook{}, err
	}
	made = lipsync.Webhook{ID: s.NewID(), URL: rawURL, Events: events, CreatedAt: lipsync.StoredTime(s.Now())}
	if made.Secret, err = s.newSecret(); err != nil {
		return lipsync.Webhook{}, err
	}
	limit := s.Limits.Webhooks
	err = s.changeWebhooks(ctx, c.Account, func(a *lipsync.AccountWebhooks) error {
		switch {
		case len(a.List) >= limit:
			return failure.New(failure.WebhookLimit, fmt.Sprintf("account has as many webhooks as it may have, %d; delete one first", limit))
		case slices.ContainsFunc(a.List, func(w lipsync.Webhook) bool { return w.Has(rawURL) }):
			return failure.New(failure.SameWebhook, "account already has a webhook with this URL")
		}
		a.List = append(a.List, made)
		return a.CheckSize()
	})
	return made, err
}

// checkEvents returns an error, which is Invalid, unless each type exists and is named once.
func checkEvents(events []lipsync.EventType) error {
	for i, t := range events {
		if !slices.Contains(lipsync.EventTypes(), t) {
			var names []string
			for _, known := range lipsync.EventTypes() {
				names = append(names, string(known))
			}
			return failure.New(failure.Invalid, "events must be of: "+strings.Join(names, ", "))
		}
		if slices.Contains(events[:i], t) {
			return failure.New(failure.Invalid, fmt.Sprintf("events has %s twice", t))
		}
	}
	return nil
}

func (s *Service) newSecret() (string, error) {
	var random [secretBytes]byte
	if _, err := io.ReadFull(s.Random, random[:]); err != nil {
		return "", err
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(random[:]), nil
}

// changeWebhooks replaces the account's webhooks by the result of change. If they were changed in
// between, it calls change again.
func (s *Service) changeWebhooks(ctx context.Context, account string, change func(*lipsync.AccountWebhooks) error) (err error) {
	for range putTries {
		a, getErr := s.Store.Webhooks.Of(ctx, account)
		if getErr != nil {
			return getErr
		}
		if err := change(&a); err != nil {
			return err
		}
		if err = s.Store.Webhooks.Put(ctx, a); failure.CodeOf(err) != failure.Conflict {
			return err
		}
	}
	return failure.RateLimit(0, err)
}

// Webhooks returns the caller's webhooks, oldest first.
func (s *Service) Webhooks(ctx context.Context, c lipsync.Caller) ([]lipsync.Webhook, error) {
	a, err := s.Store.Webhooks.Of(ctx, c.Account)
	return a.List, err
}

// Webhook returns the caller's webhook with the id, or NotFound.
func (s *Service) Webhook(ctx context.Context, c lipsync.Caller, id string) (lipsync.Webhook, error) {
	a, err := s.Store.Webhooks.Of(ctx, c.Account)
	if err != nil {
		return lipsync.Webhook{}, err
	}
	i := find(a.List, id)
	if i < 0 {
		return lipsync.Webhook{}, noWebhook()
	}
	return a.List[i], nil
}

func noWebhook() error { return failure.New(failure.NotFound, "webhook not found") }

// changeWebhook changes the caller's webhook with the id, and returns it.
func (s *Service) changeWebhook(ctx context.Context, account, id string, change func(*lipsync.Webhook)) (changed lipsync.Webhook, err error) {
	err = s.changeWebhooks(ctx, account, func(a *lipsync.AccountWebhooks) error {
		i := find(a.List, id)
		if i < 0 {
			return noWebhook()
		}
		change(&a.List[i])
		changed = a.List[i]
		return nil
	})
	return changed, err
}

// DeleteWebhook deletes the caller's webhook and returns it, and its deliveries. Those that are pending are not sent.
func (s *Service) DeleteWebhook(ctx context.Context, c lipsync.Caller, id string) (deleted lipsync.Webhook, err error) {
	err = s.changeWebhooks(ctx, c.Account, func(a *lipsync.AccountWebhooks) error {
		i := find(a.List, id)
		if i < 0 {
			return noWebhook()
		}
		deleted = a.List[i]
		a.List = slices.Delete(a.List, i, i+1)
		return nil
	})
	if err == nil {
		err = s.Store.Webhooks.Forget(ctx, id)
	}
	return deleted, err
}

// RotateWebhook gives the caller's webhook a new secret. The one before also signs for 24 hours.
func (s *Service) RotateWebhook(ctx context.Context, c lipsync.Caller, id string) (lipsync.Webhook, error) {
	secret, err := s.newSecret()
	if err != nil {
		return lipsync.Webhook{}, err
	}
	return s.changeWebhook(ctx, c.Account, id, func(w *lipsync.Webhook) {
		w.OldSecret, w.OldUntil = w.Secret, lipsync.StoredTime(s.Now().Add(secretLife))
		w.Secret = secret
	})
}

// EnableWebhook lets the caller's webhook get events again after its URL answered 410. One that isn't disabled
// stays as it is.
func (s *Service) EnableWebhook(ctx context.Context, c lipsync.Caller, id string) (lipsync.Webhook, error) {
	return s.changeWebhook(ctx, c.Account, id, func(w *lipsync.Webhook) { w.DisabledAt = time.Time{} })
}

// TestWebhook sends a TestEvent to the caller's webhook, and returns its delivery.
func (s *Service) TestWebhook(ctx context.Context, c lipsync.Caller, id string) (lipsync.Delivery, error) {
	if err := s.usable(ctx, c, id); err != nil {
		return lipsync.Delivery{}, err
	}
	if err := s.takeTest(ctx, id); err != nil {
		return lipsync.Delivery{}, err
	}
	d := lipsync.NewTest(id, c.Account, s.NewID(), s.Now())
	if err := s.Store.Webhooks.Add(ctx, d); err != nil {
		return lipsync.Delivery{}, err
	}
	s.Announce(ctx, 0, d)
	return d, nil
}

// takeTest counts a call in the testRate of the webhook, and returns RateLimited if that is exceeded.
func (s *Service) takeTest(ctx context.Context, id string) error {
	a, err := s.Store.Rates.Take(ctx, "test/"+id, testRate, s.Now())
	return cmp.Or(err, a.Refusal())
}

// usable returns NotFound if the caller has no webhook with the id, Finished if it is disabled, and EventLimit if the account has as many
// undelivered events as it may have.
func (s *Service) usable(ctx context.Context, c lipsync.Caller, id string) error {
	a, err := s.Store.Webhooks.Of(ctx, c.Account)
	if err != nil {
		return err
	}
	switch i := find(a.List, id); {
	case i < 0:
		return noWebhook()
	case !a.List[i].DisabledAt.IsZero():
		return failure.New(failure.Finished, "webhook is disabled, since its URL answered 410; enable it first")
	case a.Full:
		return s.Limits.Explain(failure.New(failure.EventLimit, "too many undelivered events"))
	}
	return nil
}

// Deliveries returns up to limit deliveries to the caller's webhook, newest first: those that are older
// than the delivery with the id before, or all if before is "".
func (s *Service) Deliveries(ctx context.Context, c lipsync.Caller, id, before string, limit int) ([]lipsync.Delivery, error) {
	if _, err := s.Webhook(ctx, c, id); err != nil {
		return nil, err
	}
	return s.Store.Webhooks.Deliveries(ctx, id, before, limit)
}

// Redeliver sends the event of a final delivery to the caller's webhook again, with all attempts. It
// returns Unfinished if the delivery is pending.
func (s *Service) Redeliver(ctx context.Context, c lipsync.Caller, id, delivery string) (lipsync.Delivery, error) {
	if err := s.usable(ctx, c, id); err != nil {
		return lipsync.Delivery{}, err
	}
	if !order.ValidText(delivery) {
		return lipsync.Delivery{}, failure.New(failure.NotFound, "delivery not found")
	}
	d, err := s.Store.Webhooks.Delivery(ctx, id, delivery)
	if err != nil {
		return lipsync.Delivery{}, failure.Restate(err, failure.NotFound, "delivery not found")
	}
	if d.State.Pending() {
		return lipsync.Delivery{}, failure.New(failure.Unfinished, "delivery is not finished")
	}
	if err := s.again(ctx, &d); err != nil {
		if failure.CodeOf(err) == failure.Conflict { // another call was faster
			err = failure.New(failure.Unfinished, "delivery is not finished")
		}
		return lipsync.Delivery{}, err
	}
	return d, nil
}

// again makes a delivery due now, with all attempts. It returns Conflict if the delivery was changed meanwhile.
func (s *Service) again(ctx context.Context, d *lipsync.Delivery) error {
	d.State, d.Due, d.Attempts = lipsync.DeliveryWaiting, lipsync.StoredTime(s.Now()), 0
	if err := s.Store.Webhooks.Swap(ctx, *d); err != nil {
		return err
	}
	d.Version++
	s.Announce(ctx, 0, *d)
	return nil
}

// RedeliverAll sends the events again that wait for another attempt at the caller's webhook, and then those that are undelivered, mostAtOnce together. It
// reports how many, and whether more may be left. It looks at the first dueBatch pending ones only. It counts as a test in the rate. While the account
// has as many undelivered events as it may have, it sends only those that wait.
func (s *Service) RedeliverAll(ctx context.Context, c lipsync.Caller, id string) (n int, more bool, err error) {
	err = s.usable(ctx, c, id)
	full := failure.CodeOf(err) == failure.EventLimit
	if err != nil && !full {
		return 0, false, err
	}
	if err := s.takeTest(ctx, id); err != nil {
		return 0, false, err
	}
	all, err := s.Store.Webhooks.Due(ctx, id, s.Ever(), dueBatch)
	more = len(all) >= dueBatch
	all = slices.DeleteFunc(all, func(d lipsync.Delivery) bool {
		return d.State != lipsync.DeliveryWaiting || d.Attempts == 0 || !d.Due.After(s.Now())
	})
	if err == nil && !full && len(all) < mostAtOnce {
		var failed []lipsync.Delivery
		failed, err = s.Store.Webhooks.Undelivered(ctx, id, mostAtOnce)
		all = append(all, failed...)
	}
	if err != nil {
		return 0, false, err
	}
	more = more || len(all) >= mostAtOnce
	for _, d := range all[:min(len(all), mostAtOnce)] {
		switch err := s.again(ctx, &d); failure.CodeOf(err) {
		case "":
			n++
		case failure.Conflict: // it was just sent, or another call was faster
		default:
			return n, true, err
		}
	}
	return n, more, nil
}

// NextAttempt returns when the next attempt at a webhook is due whose last attempt failed, or zero.
func (s *Service) NextAttempt(ctx context.Context, w lipsync.Webhook) (time.Time, error) {
	if w.FailingSince.IsZero() {
		return time.Time{}, nil
	}
	next, err := s.Store.Webhooks.Due(ctx, w.ID, s.Ever(), 1)
	if len(next) == 0 {
		return time.Time{}, err
	}
	return next[0].Due, nil
}

// find returns the place of the webhook with the id in the list, or -1.
func find(list []lipsync.Webhook, id string) int {
	return slices.IndexFunc(list, func(w lipsync.Webhook) bool { return w.ID == id })
}
