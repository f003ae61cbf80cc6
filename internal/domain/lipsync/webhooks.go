package lipsync

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

const (
	// secretLife is the time for which the old secret of a webhook signs too, after a rotation.
	secretLife = 24 * time.Hour
	// secretPrefix begins each secret, as Standard Webhooks says.
	secretPrefix = "whsec_"
	// secretBytes is the number of random bytes in a secret. Standard Webhooks allows 24 to 64.
	secretBytes = 32
	// putTries is the number of times that a change of an account's webhooks is tried.
	putTries = 5
)

// WebhookService keeps the webhooks of accounts, and sends events to them and to the Bus.
type WebhookService struct{ *Base }

// NewWebhookService returns a WebhookService.
func NewWebhookService(b *Base) *WebhookService { return &WebhookService{b} }

// CreateWebhook makes a webhook with a new secret. It returns WebhookLimit if the account has as many
// webhooks as it may have.
func (s *WebhookService) CreateWebhook(ctx context.Context, c Caller, rawURL string, events []EventType) (made Webhook, err error) {
	if !order.ValidURL(rawURL) {
		return Webhook{}, failure.New(failure.Invalid, order.URLRule("url"))
	}
	if err := checkEvents(events); err != nil {
		return Webhook{}, err
	}
	made = Webhook{ID: s.NewID(), URL: rawURL, Events: events, CreatedAt: StoredTime(s.Now())}
	if made.Secret, err = s.newSecret(); err != nil {
		return Webhook{}, err
	}
	limit := s.Limits.Webhooks
	err = s.changeWebhooks(ctx, c.Account, func(a *AccountWebhooks) error {
		switch {
		case len(a.List) >= limit:
			return failure.New(failure.WebhookLimit, fmt.Sprintf("account has as many webhooks as it may have, %d; delete one first", limit))
		case slices.ContainsFunc(a.List, func(w Webhook) bool { return w.Has(rawURL) }):
			return failure.New(failure.SameWebhook, "account already has a webhook with this URL")
		}
		a.List = append(a.List, made)
		return nil
	})
	return made, err
}

// checkEvents returns an error, which is Invalid, unless each type exists and is named once.
func checkEvents(events []EventType) error {
	for i, t := range events {
		if !slices.Contains(EventTypes(), t) {
			var names []string
			for _, known := range EventTypes() {
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

func (s *WebhookService) newSecret() (string, error) {
	var random [secretBytes]byte
	if _, err := io.ReadFull(s.Random, random[:]); err != nil {
		return "", err
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(random[:]), nil
}

// changeWebhooks replaces the account's webhooks by the result of change. If they were changed in
// between, it calls change again.
func (s *WebhookService) changeWebhooks(ctx context.Context, account string, change func(*AccountWebhooks) error) (err error) {
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
	return &failure.Error{Code: failure.RateLimited, Message: "rate limit exceeded", Err: err}
}

// Webhooks returns the caller's webhooks, oldest first.
func (s *WebhookService) Webhooks(ctx context.Context, c Caller) ([]Webhook, error) {
	a, err := s.Store.Webhooks.Of(ctx, c.Account)
	return a.List, err
}

// Webhook returns the caller's webhook with the id, or NotFound.
func (s *WebhookService) Webhook(ctx context.Context, c Caller, id string) (Webhook, error) {
	a, err := s.Store.Webhooks.Of(ctx, c.Account)
	if err != nil {
		return Webhook{}, err
	}
	i := find(a.List, id)
	if i < 0 {
		return Webhook{}, noWebhook()
	}
	return a.List[i], nil
}

func noWebhook() error { return failure.New(failure.NotFound, "webhook not found") }

// changeWebhook changes the caller's webhook with the id, and returns it.
func (s *WebhookService) changeWebhook(ctx context.Context, account, id string, change func(*Webhook)) (changed Webhook, err error) {
	err = s.changeWebhooks(ctx, account, func(a *AccountWebhooks) error {
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

// DeleteWebhook deletes the caller's webhook and returns it. Its deliveries can't be read from then on,
// and those that are pending are not sent.
func (s *WebhookService) DeleteWebhook(ctx context.Context, c Caller, id string) (deleted Webhook, err error) {
	err = s.changeWebhooks(ctx, c.Account, func(a *AccountWebhooks) error {
		i := find(a.List, id)
		if i < 0 {
			return noWebhook()
		}
		deleted = a.List[i]
		a.List = slices.Delete(a.List, i, i+1)
		return nil
	})
	return deleted, err
}

// RotateWebhook gives the caller's webhook a new secret. The one before also signs for 24 hours.
func (s *WebhookService) RotateWebhook(ctx context.Context, c Caller, id string) (Webhook, error) {
	secret, err := s.newSecret()
	if err != nil {
		return Webhook{}, err
	}
	return s.changeWebhook(ctx, c.Account, id, func(w *Webhook) {
		w.OldSecret, w.OldUntil = w.Secret, StoredTime(s.Now().Add(secretLife))
		w.Secret = secret
	})
}

// EnableWebhook lets the caller's webhook get events again after its URL answered 410. One that isn't disabled
// stays as it is.
func (s *WebhookService) EnableWebhook(ctx context.Context, c Caller, id string) (Webhook, error) {
	return s.changeWebhook(ctx, c.Account, id, func(w *Webhook) { w.DisabledAt = time.Time{} })
}

// TestWebhook sends a TestEvent to the caller's webhook, and returns its delivery.
func (s *WebhookService) TestWebhook(ctx context.Context, c Caller, id string) (Delivery, error) {
	if err := s.usable(ctx, c, id); err != nil {
		return Delivery{}, err
	}
	d := NewTest(id, c.Account, s.NewID(), s.Now())
	if err := s.Store.Webhooks.Add(ctx, d); err != nil {
		return Delivery{}, err
	}
	s.Announce(ctx, 0, d)
	return d, nil
}

// usable returns NotFound if the caller has no webhook with the id, and Finished if it is disabled.
func (s *WebhookService) usable(ctx context.Context, c Caller, id string) error {
	w, err := s.Webhook(ctx, c, id)
	if err == nil && !w.DisabledAt.IsZero() {
		err = failure.New(failure.Finished, "webhook is disabled, since its URL answered 410; enable it first")
	}
	return err
}

// Deliveries returns up to limit deliveries to the caller's webhook, newest first: those that are older
// than the delivery with the id before, or all if before is "".
func (s *WebhookService) Deliveries(ctx context.Context, c Caller, id, before string, limit int) ([]Delivery, error) {
	if _, err := s.Webhook(ctx, c, id); err != nil {
		return nil, err
	}
	return s.Store.Webhooks.Deliveries(ctx, id, before, limit)
}

// Redeliver sends the event of a final delivery to the caller's webhook again, with all attempts. It
// returns Unfinished if the delivery is pending.
func (s *WebhookService) Redeliver(ctx context.Context, c Caller, id, delivery string) (Delivery, error) {
	if err := s.usable(ctx, c, id); err != nil {
		return Delivery{}, err
	}
	if !order.ValidText(delivery) {
		return Delivery{}, failure.New(failure.NotFound, "delivery not found")
	}
	d, err := s.Store.Webhooks.Delivery(ctx, id, delivery)
	if err != nil {
		return Delivery{}, failure.Restate(err, failure.NotFound, "delivery not found")
	}
	if d.State.Pending() {
		return Delivery{}, failure.New(failure.Unfinished, "delivery is not finished")
	}
	d.State, d.Due, d.Attempts, d.After = DeliveryWaiting, StoredTime(s.Now()), 0, ""
	if err := s.Store.Webhooks.Swap(ctx, d); err != nil {
		if failure.CodeOf(err) == failure.Conflict { // another call was faster
			err = failure.New(failure.Unfinished, "delivery is not finished")
		}
		return Delivery{}, err
	}
	d.Version++
	s.Announce(ctx, 0, d)
	return d, nil
}

// find returns the place of the webhook with the id in the list, or -1.
func find(list []Webhook, id string) int {
	return slices.IndexFunc(list, func(w Webhook) bool { return w.ID == id })
}
