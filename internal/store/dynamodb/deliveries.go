package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Deliveries to one webhook are in several partitions, by a hash of their id, and the pending ones in
// several partitions of the index. These numbers must not change: stored data depends on them.
const (
	deliveryShards = 8
	dueShards      = 4
)

const (
	delivered = "delivery/"
	due       = "due/"         // partitions of the index
	failed    = "undelivered/" // partitions of the index
)

func deliveryKey(webhook, id string) table.Item {
	return table.Key(table.Shard(delivered+webhook, table.ShardOf(id, deliveryShards)), id)
}

func deliveryFields(d *lipsync.Delivery) table.Fields {
	return table.Fields{
		"webhook": &d.Webhook, "id": &d.ID, "account": &d.Account, "type": (*string)(&d.Type), "request": &d.Request,
		"after": &d.After, "url": &d.URL, "createdAt": &d.CreatedAt, "state": (*string)(&d.State), "due": &d.Due,
		"attempts": &d.Attempts, "attemptedAt": &d.AttemptedAt, "status": &d.Status, "problem": &d.Problem, "version": &d.Version,
	}
}

// deliveryItem returns the item of a delivery. A pending one is in the index by the time when it is due, one that failed by its id.
func deliveryItem(d lipsync.Delivery) table.Item {
	i := table.With(table.Encode(deliveryFields(&d)), deliveryKey(d.Webhook, d.ID))
	i[table.TimeToLive] = table.Expiry(d.CreatedAt.Add(lipsync.KeepDeliveries))
	if d.State.Pending() {
		i[table.OpenPartition] = table.Text(table.Shard(due+d.Webhook, table.ShardOf(d.ID, dueShards)))
		i[table.OpenSort] = table.Text(table.Place(d.Due, d.ID))
	} else if d.State == lipsync.DeliveryFailed {
		i[table.OpenPartition], i[table.OpenSort] = table.Text(table.Shard(failed+d.Webhook, table.ShardOf(d.ID, dueShards))), table.Text(d.ID)
	}
	return i
}

// addDeliveries returns the steps that add new deliveries, in the transaction that changes what they
// are about.
func (s *Store) addDeliveries(all []lipsync.Delivery) (steps []table.Step) {
	for _, d := range all {
		steps = append(steps, s.table.PutStep(deliveryItem(d), "", nil, nil))
	}
	return steps
}

func (s webhooks) Add(ctx context.Context, d lipsync.Delivery) error {
	there := failure.New(failure.Conflict, "the delivery is there")
	err := table.RetryConflicts(ctx, func(int) error {
		return s.table.Transact(ctx, []table.Step{s.table.PutStep(deliveryItem(d), "attribute_not_exists(#pk)", nil, there)})
	})
	if failure.CodeOf(err) == failure.Conflict {
		return nil
	}
	return err
}

func (s webhooks) Delivery(ctx context.Context, webhook, id string) (lipsync.Delivery, error) {
	if id == "" { // no attribute of a key may be ""
		return lipsync.Delivery{}, table.NotFound()
	}
	return table.One(ctx, s.table, deliveryKey(webhook, id), table.Decoder(deliveryFields))
}

func (s webhooks) Swap(ctx context.Context, d lipsync.Delivery) error {
	seen := d.Version
	d.Version++
	c := table.Change{
		Key: deliveryKey(d.Webhook, d.ID), Set: deliveryItem(d),
		Condition: "#version = :seen", Values: table.Item{"seen": table.Number(seen)}, Refused: failure.New(failure.Conflict, "delivery was changed"),
	}
	delete(c.Set, table.PartitionKey)
	delete(c.Set, table.SortKey)
	for name := range table.With(deliveryFields(&d), table.Fields{table.OpenPartition: nil, table.OpenSort: nil}) {
		if c.Set[name] == nil {
			c.Remove = append(c.Remove, name)
		}
	}
	_, err := s.table.Update(ctx, c)
	return err
}

func (s webhooks) Drop(ctx context.Context, d lipsync.Delivery) error {
	return s.table.Delete(ctx, deliveryKey(d.Webhook, d.ID))
}

func (s webhooks) Due(ctx context.Context, webhook string, now time.Time, limit int) ([]lipsync.Delivery, error) {
	all, err := s.deliveries(ctx, limit, dueShards, func(n int) *dynamodb.QueryInput {
		return table.InIndex(table.Shard(due+webhook, n), "< :later", table.Item{":later": table.Text(table.Padded(now.UnixMicro() + 1))})
	}, func(a, b lipsync.Delivery) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) })
	return slices.DeleteFunc(all, func(d lipsync.Delivery) bool { return !d.State.Pending() }), err
}

func (s webhooks) Undelivered(ctx context.Context, webhook string, limit int) ([]lipsync.Delivery, error) {
	all, err := s.deliveries(ctx, limit, dueShards, func(n int) *dynamodb.QueryInput { return table.InPartition(table.Shard(failed+webhook, n)) },
		func(a, b lipsync.Delivery) int { return cmp.Compare(a.ID, b.ID) })
	return slices.DeleteFunc(all, func(d lipsync.Delivery) bool { return d.State != lipsync.DeliveryFailed }), err
}

// Pending counts no more in each shard than that shard's share of the limit
// and a little more, since ids are spread evenly but not exactly.
func (s webhooks) Pending(ctx context.Context, webhook string, limit int) (int, error) {
	share := shareOf(limit)
	pending, err := table.Total(dueShards, func(n int) (int, error) {
		return s.table.Count(ctx, share, table.InPartition(table.Shard(due+webhook, n)))
	})
	return min(pending, limit), err
}

// shareOf returns the most pending deliveries that Pending counts in one shard: a quarter of the limit, and
// five standard deviations of the number in a shard more.
func shareOf(limit int) int {
	mean := float64(limit) / dueShards
	return min(limit, int(mean+5*math.Sqrt(mean))+1)
}

func (s webhooks) Deliveries(ctx context.Context, webhook, before string, limit int) ([]lipsync.Delivery, error) {
	if before == "" {
		before = behindAll
	}
	return s.deliveries(ctx, limit, deliveryShards, func(n int) *dynamodb.QueryInput {
		in := table.InTable(table.Shard(delivered+webhook, n), "< :before", table.Item{":before": table.Text(before)})
		in.ScanIndexForward = aws.Bool(false)
		return in
	}, func(a, b lipsync.Delivery) int { return cmp.Compare(b.ID, a.ID) })
}

// deliveries returns the first deliveries, limit at most, of those that n queries find, in the order of
// compare, which is that of each query.
func (s *Store) deliveries(ctx context.Context, limit, n int, query func(n int) *dynamodb.QueryInput, compare func(a, b lipsync.Delivery) int) ([]lipsync.Delivery, error) {
	all, err := table.Gather(n, func(n int) ([]lipsync.Delivery, error) {
		return table.Many(ctx, s.table, limit, query(n), table.Decoder(deliveryFields))
	})
	slices.SortFunc(all, compare)
	return all[:min(len(all), limit)], err
}

// WithDue asks for the first due delivery of each webhook. No function on AWS calls it: each delivery that is due has a message.
func (s webhooks) WithDue(ctx context.Context, now time.Time) (ids []string, err error) {
	accounts, err := s.All(ctx)
	for _, a := range accounts {
		for _, w := range a.List {
			due, dueErr := s.Due(ctx, w.ID, now, 1)
			if err = errors.Join(err, dueErr); len(due) > 0 {
				ids = append(ids, w.ID)
			}
		}
	}
	return ids, err
}

// Forget does nothing. Deliveries have a TimeToLive, and one that is pending is dropped by its message.
func (s webhooks) Forget(context.Context, string) error { return nil }

// Expire does nothing. Deliveries have a TimeToLive.
func (s webhooks) Expire(context.Context, time.Time) error { return nil }
