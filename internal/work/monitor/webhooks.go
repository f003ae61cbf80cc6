package monitor

import (
	"context"
	"time"

	"lipsync/internal/domain/lipsync"
)

// webhooks implements lipsync.Webhooks.
type webhooks struct {
	lipsync.Webhooks
	m *Monitor
}

var _ lipsync.Webhooks = (*webhooks)(nil)

func (s webhooks) Of(ctx context.Context, account string) (_ lipsync.AccountWebhooks, err error) {
	defer s.m.observe(ctx, "get_webhooks", time.Now(), &err)
	return s.Webhooks.Of(ctx, account)
}

func (s webhooks) Put(ctx context.Context, a lipsync.AccountWebhooks) (err error) {
	defer s.m.observe(ctx, "put_webhooks", time.Now(), &err)
	return s.Webhooks.Put(ctx, a)
}

func (s webhooks) All(ctx context.Context) (_ []lipsync.AccountWebhooks, err error) {
	defer s.m.observe(ctx, "all_webhooks", time.Now(), &err)
	return s.Webhooks.All(ctx)
}

func (s webhooks) Add(ctx context.Context, d lipsync.Delivery) (err error) {
	defer s.m.observe(ctx, "add_delivery", time.Now(), &err)
	return s.Webhooks.Add(ctx, d)
}

func (s webhooks) Delivery(ctx context.Context, webhook, id string) (_ lipsync.Delivery, err error) {
	defer s.m.observe(ctx, "get_delivery", time.Now(), &err)
	return s.Webhooks.Delivery(ctx, webhook, id)
}

func (s webhooks) Swap(ctx context.Context, d lipsync.Delivery) (err error) {
	defer s.m.observe(ctx, "swap_delivery", time.Now(), &err)
	return s.Webhooks.Swap(ctx, d)
}

func (s webhooks) Drop(ctx context.Context, d lipsync.Delivery) (err error) {
	defer s.m.observe(ctx, "drop_delivery", time.Now(), &err)
	return s.Webhooks.Drop(ctx, d)
}

func (s webhooks) Due(ctx context.Context, webhook string, now time.Time, limit int) (_ []lipsync.Delivery, err error) {
	defer s.m.observe(ctx, "due_deliveries", time.Now(), &err)
	return s.Webhooks.Due(ctx, webhook, now, limit)
}

func (s webhooks) Pending(ctx context.Context, webhook string, limit int) (_ int, err error) {
	defer s.m.observe(ctx, "pending_deliveries", time.Now(), &err)
	return s.Webhooks.Pending(ctx, webhook, limit)
}

func (s webhooks) Deliveries(ctx context.Context, webhook, before string, limit int) (_ []lipsync.Delivery, err error) {
	defer s.m.observe(ctx, "list_deliveries", time.Now(), &err)
	return s.Webhooks.Deliveries(ctx, webhook, before, limit)
}

func (s webhooks) Expire(ctx context.Context, before time.Time) (err error) {
	defer s.m.observe(ctx, "expire_deliveries", time.Now(), &err)
	return s.Webhooks.Expire(ctx, before)
}
