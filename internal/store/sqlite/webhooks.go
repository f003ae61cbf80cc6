package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type webhooks struct{ *Store }

func (s webhooks) Of(ctx context.Context, account string) (a lipsync.AccountWebhooks, err error) {
	defer s.observe(ctx, "get_webhooks", time.Now(), &err)
	a, err = webhooksOf(ctx, s.read, account)
	return a, explain(err)
}

const webhookColumns = "account, list, filled, version"

// webhooksOf reads the account's webhooks.
func webhooksOf(ctx context.Context, db querier, account string) (lipsync.AccountWebhooks, error) {
	a, err := scanWebhooks(db.QueryRowContext(ctx, "SELECT "+webhookColumns+" FROM webhooks WHERE account = ?", account))
	if errors.Is(err, sql.ErrNoRows) {
		return lipsync.AccountWebhooks{Account: account}, nil
	}
	return a, err
}

func scanWebhooks(row row) (a lipsync.AccountWebhooks, err error) {
	var list string
	if err := row.Scan(&a.Account, &list, &a.Full, &a.Version); err != nil {
		return a, err
	}
	a.List, err = lipsync.ParseWebhooks(list)
	return a, err
}

func (s webhooks) Put(ctx context.Context, a lipsync.AccountWebhooks) error {
	changed := failure.New(failure.Conflict, "webhooks were changed")
	if a.Version == 0 {
		return s.changeRow(ctx, "put_webhooks", changed, "INSERT INTO webhooks ("+webhookColumns+") VALUES (?, ?, ?, 1) ON CONFLICT DO NOTHING",
			a.Account, a.Text(), a.Full)
	}
	return s.changeRow(ctx, "put_webhooks", changed, "UPDATE webhooks SET list = ?, filled = ?, version = version + 1 WHERE account = ? AND version = ?",
		a.Text(), a.Full, a.Account, a.Version)
}

func (s webhooks) All(ctx context.Context) ([]lipsync.AccountWebhooks, error) {
	return many(ctx, s.Store, "all_webhooks", scanWebhooks, "SELECT "+webhookColumns+" FROM webhooks WHERE list <> '[]'")
}

const deliveryColumns = `webhook, id, account, type, request, after, url, created_at, state, due, attempts, attempted_at, status, problem, version`

func scanDelivery(row row) (d lipsync.Delivery, err error) {
	err = row.Scan(&d.Webhook, &d.ID, &d.Account, &d.Type, &d.Request, &d.After, &d.URL, instant{&d.CreatedAt},
		&d.State, instant{&d.Due}, &d.Attempts, instant{&d.AttemptedAt}, &d.Status, &d.Problem, &d.Version)
	return d, err
}

func (s webhooks) Add(ctx context.Context, d lipsync.Delivery) error {
	return s.update(ctx, "add_delivery", func(ctx context.Context, tx *sql.Tx) error { return addDeliveries(ctx, tx, []lipsync.Delivery{d}) })
}

// addDeliveries adds new deliveries in the transaction that changes what they are about.
func addDeliveries(ctx context.Context, tx *sql.Tx, all []lipsync.Delivery) error {
	for _, d := range all {
		_, err := tx.ExecContext(ctx, "INSERT INTO deliveries ("+deliveryColumns+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			d.Webhook, d.ID, d.Account, d.Type, d.Request, d.After, d.URL, micros(d.CreatedAt),
			d.State, micros(d.Due), d.Attempts, micros(d.AttemptedAt), d.Status, d.Problem, d.Version)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s webhooks) Delivery(ctx context.Context, webhook, id string) (lipsync.Delivery, error) {
	return one(ctx, s.Store, "get_delivery", scanDelivery, "SELECT "+deliveryColumns+" FROM deliveries WHERE webhook = ? AND id = ?", webhook, id)
}

func (s webhooks) Swap(ctx context.Context, d lipsync.Delivery) error {
	return s.changeRow(ctx, "swap_delivery", failure.New(failure.Conflict, "delivery was changed"), `UPDATE deliveries
		SET after = ?, state = ?, due = ?, attempts = ?, attempted_at = ?, status = ?, problem = ?, version = version + 1
		WHERE webhook = ? AND id = ? AND version = ?`,
		d.After, d.State, micros(d.Due), d.Attempts, micros(d.AttemptedAt), d.Status, d.Problem, d.Webhook, d.ID, d.Version)
}

func (s webhooks) Drop(ctx context.Context, d lipsync.Delivery) error {
	return s.changeRow(ctx, "drop_delivery", nil, "DELETE FROM deliveries WHERE webhook = ? AND id = ?", d.Webhook, d.ID)
}

const isPending = "webhook = ?1 AND state IN ('waiting', 'sending')"

func (s webhooks) Due(ctx context.Context, webhook string, now time.Time, limit int) ([]lipsync.Delivery, error) {
	return s.deliveries(ctx, "due_deliveries", "WHERE "+isPending+" AND due <= ?2 ORDER BY due, id LIMIT ?3", webhook, micros(now), limit)
}

func (s webhooks) Undelivered(ctx context.Context, webhook string, limit int) ([]lipsync.Delivery, error) {
	return s.deliveries(ctx, "undelivered", undelivered, webhook, limit)
}

const undelivered = "INDEXED BY deliveries_failed WHERE webhook = ? AND state = 'undelivered' ORDER BY id LIMIT ?"

func (s webhooks) Pending(ctx context.Context, webhook string, limit int) (int, error) {
	return one(ctx, s.Store, "pending_deliveries", scanValue[int], "SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE "+isPending+" LIMIT ?2)", webhook, limit)
}

// pendingWebhooks has the webhooks with pending deliveries. It goes from one to the next by an index, so it reads no others.
const pendingWebhooks = `WITH RECURSIVE pending (webhook) AS (
		SELECT * FROM (SELECT webhook FROM deliveries INDEXED BY deliveries_due WHERE state IN ('waiting', 'sending') ORDER BY webhook LIMIT 1)
		UNION ALL
		SELECT (SELECT d.webhook FROM deliveries d INDEXED BY deliveries_due
			WHERE d.state IN ('waiting', 'sending') AND d.webhook > pending.webhook ORDER BY d.webhook LIMIT 1)
		FROM pending WHERE pending.webhook IS NOT NULL
	)`

const withDue = pendingWebhooks + ` SELECT webhook FROM pending WHERE webhook IS NOT NULL AND EXISTS (
	SELECT 1 FROM deliveries d INDEXED BY deliveries_due WHERE d.webhook = pending.webhook AND d.state IN ('waiting', 'sending') AND d.due <= ?)`

func (s webhooks) WithDue(ctx context.Context, now time.Time) ([]string, error) {
	return many(ctx, s.Store, "webhooks_with_due", scanValue[string], withDue, micros(now))
}

// maxForget is the number of deliveries that one transaction of Forget deletes, so that other writes don't wait long.
const maxForget = 1000

func (s webhooks) Forget(ctx context.Context, webhook string) error {
	for {
		var n int64
		err := s.update(ctx, "forget_deliveries", func(ctx context.Context, tx *sql.Tx) error {
			result, err := tx.ExecContext(ctx, `DELETE FROM deliveries WHERE (webhook, id) IN
				(SELECT webhook, id FROM deliveries WHERE webhook = ? LIMIT ?)`, webhook, maxForget)
			if err == nil {
				n, err = result.RowsAffected()
			}
			return err
		})
		if err != nil || n < maxForget {
			return err
		}
	}
}

func (s webhooks) Deliveries(ctx context.Context, webhook, before string, limit int) ([]lipsync.Delivery, error) {
	return s.deliveries(ctx, "list_deliveries", "WHERE webhook = ?1 AND (?2 = '' OR id < ?2) ORDER BY id DESC LIMIT ?3", webhook, before, limit)
}

func (s webhooks) deliveries(ctx context.Context, operation, clauses string, args ...any) ([]lipsync.Delivery, error) {
	return many(ctx, s.Store, operation, scanDelivery, "SELECT "+deliveryColumns+" FROM deliveries "+clauses, args...)
}

// maxExpire is the number of deliveries that one call of Expire deletes. The sweep calls it each minute.
const maxExpire = 1000

func (s webhooks) Expire(ctx context.Context, before time.Time) error {
	old, err := one(ctx, s.Store, "expire_deliveries", scanValue[bool], "SELECT EXISTS (SELECT 1 FROM deliveries WHERE created_at < ?)", micros(before))
	if err != nil || !old { // no write without need: the disk may be full
		return err
	}
	return s.changeRow(ctx, "expire_deliveries", nil, `DELETE FROM deliveries WHERE (webhook, id) IN
		(SELECT webhook, id FROM deliveries WHERE created_at < ? ORDER BY created_at LIMIT ?)`, micros(before), maxExpire)
}
