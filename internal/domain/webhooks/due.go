package webhooks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

const (
	// postsOfWebhook is the number of calls to one webhook at a time in one process. So a webhook that
	// doesn't answer delays no other one.
	postsOfWebhook = 8
	// dueBatch is the number of due deliveries of one webhook that one sweep announces. The next sweep
	// announces the others.
	dueBatch = 1000
	// webhooksTime is the time after which a sweep announces nothing more, so that time is left for the
	// rest of the sweep.
	webhooksTime = 20 * time.Second
	// lookEvery is the time between two looks at the deliveries that are due.
	lookEvery = time.Second
)

// DeliverDue makes the deliveries that are due until ctx ends: each second, and when something comes from
// wake. It is for a single process that makes all deliveries of the store.
func (s *Service) DeliverDue(ctx context.Context, wake <-chan struct{}) {
	d := deliverer{service: s, busy: make(map[string]map[string]bool), ended: make(chan struct{}, 1)}
	defer d.running.Wait()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if err := d.start(ctx); err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "deliveries that are due", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-d.ended:
		case <-look.C:
		}
	}
}

// RecoverDeliveries makes the deliveries due that a killed process was sending. It looks at the first dueBatch pending ones of each webhook: those
// behind them are due within a sendLease by themselves.
func (s *Service) RecoverDeliveries(ctx context.Context) error {
	webhooks, err := s.Store.Webhooks.WithDue(ctx, s.Ever())
	errs := []error{err}
	for _, webhook := range webhooks {
		due, err := s.Store.Webhooks.Due(ctx, webhook, s.Ever(), dueBatch)
		errs = append(errs, err)
		for _, d := range due {
			if d.State == lipsync.DeliverySending {
				d.State, d.Due = lipsync.DeliveryWaiting, lipsync.StoredTime(s.Now())
				errs = append(errs, s.swap(ctx, &d))
			}
		}
	}
	return errors.Join(errs...)
}

// deliverer has the deliveries that are being made.
type deliverer struct {
	service *Service
	running sync.WaitGroup
	mu      sync.Mutex
	busy    map[string]map[string]bool // ids of deliveries, by webhook
	ended   chan struct{}              // gets something when there may be room for another one
}

// start begins the deliveries that are due, as far as the bounds allow.
func (r *deliverer) start(ctx context.Context) error {
	webhooks, err := r.service.Store.Webhooks.WithDue(ctx, r.service.Now())
	errs := []error{err}
	for _, webhook := range webhooks {
		errs = append(errs, r.startOf(ctx, webhook))
	}
	return errors.Join(errs...)
}

// startOf begins deliveries to one webhook. Those that run may still be among the due ones, for a
// moment.
func (r *deliverer) startOf(ctx context.Context, webhook string) error {
	r.mu.Lock()
	room := postsOfWebhook - len(r.busy[webhook])
	r.mu.Unlock()
	if room == 0 {
		return nil
	}
	due, err := r.service.Store.Webhooks.Due(ctx, webhook, r.service.Now(), postsOfWebhook)
	for _, d := range due {
		if r.begin(webhook, d.ID) {
			r.running.Go(func() {
				err := r.service.Deliver(ctx, webhook, d.ID)
				if err != nil && ctx.Err() == nil {
					r.service.Log.ErrorContext(ctx, "delivery", "delivery", d.ID, "error", err)
				}
				r.end(webhook, d.ID, err == nil)
			})
		}
	}
	return err
}

// begin reports whether the delivery may begin, and notes that it runs.
func (r *deliverer) begin(webhook, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	running := r.busy[webhook]
	if running[id] || len(running) >= postsOfWebhook {
		return false
	}
	if running == nil {
		running = make(map[string]bool)
		r.busy[webhook] = running
	}
	running[id] = true
	return true
}

// end notes that the delivery ended. After a fault of the store, the next one waits for the next look.
func (r *deliverer) end(webhook, id string, well bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.busy[webhook], id); len(r.busy[webhook]) == 0 {
		delete(r.busy, webhook)
	}
	if !well {
		return
	}
	select {
	case r.ended <- struct{}{}:
	default:
	}
}

// SweepWebhooks announces the deliveries that are due, notes which accounts have too many that are
// pending, and deletes old ones. It does several accounts at a time and begins with a random one, so that an
// account with many due deliveries doesn't keep the sweeps from those behind it.
func (s *Service) SweepWebhooks(ctx context.Context, end time.Time) error {
	if latest := s.Now().Add(webhooksTime); latest.Before(end) {
		end = latest
	}
	accounts, err := s.Store.Webhooks.All(ctx)
	first := s.RandomBelow(len(accounts))
	accounts = slices.Concat(accounts[first:], accounts[:first])
	swept := s.Each(len(accounts), end, func(i int) error { return s.sweepAccount(ctx, accounts[i], end) })
	return errors.Join(err, swept, s.Store.Webhooks.Expire(ctx, s.Now().Add(-lipsync.KeepDeliveries)))
}

func (s *Service) sweepAccount(ctx context.Context, a lipsync.AccountWebhooks, end time.Time) error {
	limit, pending := s.Limits.Undelivered, 0
	var errs []error
	for _, w := range a.List {
		n, err := s.Store.Webhooks.Pending(ctx, w.ID, max(limit-pending, 1)) // also of a webhook after a full one
		if pending += n; n > 0 && err == nil {
			var due []lipsync.Delivery
			due, err = s.Store.Webhooks.Due(ctx, w.ID, s.Now(), dueBatch)
			for i := 0; i < len(due) && !s.Over(end); i++ {
				s.Announce(ctx, 0, due[i])
			}
		}
		errs = append(errs, err)
	}
	if full := pending >= limit; full != a.Full && errors.Join(errs...) == nil {
		a.Full = full
		errs = append(errs, failure.Unless(failure.Conflict, s.Store.Webhooks.Put(ctx, a)))
	}
	return errors.Join(errs...)
}
