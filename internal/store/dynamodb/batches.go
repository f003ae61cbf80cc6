package dynamodb

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

type batches struct{ *Store }

// unfinishedBatches is the partition of the index with an item for each batch that isn't finished. The batches of an account are in a
// partition below it, by the time when they were made.
const unfinishedBatches = "batches"

// BatchKeys returns the partition keys of batches, as a pattern of IAM. A program that makes deliveries reads them.
func BatchKeys() string { return "batch/*" }

// batchTime is longer than any batch is unfinished: the bucket keeps its lines for 30 days.
const batchTime = 40 * 24 * time.Hour

// ofBatch is the sort key of the item of a batch.
const ofBatch = "batch"

func batchKey(id string) table.Item { return table.Key("batch/"+id, ofBatch) }

// openBatchKey is the key of the item that says that a batch isn't finished.
func openBatchKey(id string) table.Item { return table.Key("batch/"+id, "open") }

func batchesOf(account string) string { return unfinishedBatches + "/" + table.Digest(account) }

// batchCountKey is the key of the item that counts the account's batches that aren't finished. They begin and end seldom, so one item bears
// it. Each begins once and ends once, so the count is exact.
func batchCountKey(account string) table.Item { return table.Key(batchesOf(account), "open") }

// batchFields returns the fields of a batch, with the text of its targets.
func batchFields(b *lipsync.Batch, targets *string) table.Fields {
	return table.Fields{
		"id": &b.ID, "account": &b.Account, "keyID": &b.KeyID, "callID": &b.CallID, "lines": &b.Lines, "targets": targets,
		"fingerprint": &b.Fingerprint, "createdAt": &b.CreatedAt, "canceledAt": &b.CanceledAt, "finishedAt": &b.FinishedAt,
		"version": &b.Version,
	}
}

func decodeBatch(i table.Item) (b lipsync.Batch, err error) {
	var targets string
	if err := table.Decode(i, batchFields(&b, &targets)); err != nil {
		return lipsync.Batch{}, err
	}
	b.Targets, err = lipsync.ParseTargets(targets)
	return b, err
}

func (s batches) Create(ctx context.Context, b lipsync.Batch, limits lipsync.Limits) error {
	i := table.With(table.Encode(batchFields(&b, new(b.Targets.Text()))), batchKey(b.ID))
	i[table.OpenPartition], i[table.OpenSort] = table.Text(batchesOf(b.Account)), table.Text(table.Place(b.CreatedAt, b.ID))
	i[table.TimeToLive] = table.Expiry(b.CreatedAt.Add(batchTime + limits.Keep.RecordLife()))
	open := table.With(table.Item{"id": table.Text(b.ID), table.OpenPartition: table.Text(unfinishedBatches), table.OpenSort: table.Text(table.Place(b.CreatedAt, b.ID))}, openBatchKey(b.ID))
	var there error = failure.New(failure.Conflict, "the batch is there")
	count := table.Change{Key: batchCountKey(b.Account), Add: table.Item{"batches": table.Number(1)}}
	if limits.Batches > 0 {
		count.Condition, count.Values = "attribute_not_exists(#batches) OR #batches < :limit", table.Item{"limit": table.Number(int64(limits.Batches))}
		count.Refused = failure.New(failure.BatchLimit, "too many unfinished batches")
	}
	return table.RetryConflicts(ctx, func(int) error {
		return s.table.Transact(ctx, []table.Step{
			s.table.PutStep(i, "attribute_not_exists(#pk)", nil, there), s.table.PutStep(open, "", nil, nil), s.table.UpdateStep(count),
			s.countRecord(b.Account, b.ID, b.CreatedAt, b.RecordSize()),
		})
	})
}

func (s batches) ByID(ctx context.Context, id string) (lipsync.Batch, error) {
	return table.One(ctx, s.table, batchKey(id), decodeBatch)
}

func (s batches) Swap(ctx context.Context, b lipsync.Batch) error {
	c := table.Change{
		Key: batchKey(b.ID), Set: table.Item{"lines": table.Text(b.Lines), "version": table.Number(b.Version + 1)},
		Condition: "#version = :seen", Values: table.Item{"seen": table.Number(b.Version)}, Refused: failure.New(failure.Conflict, "batch was changed"),
	}
	if !b.CanceledAt.IsZero() {
		c.Set["canceledAt"] = table.Micros(b.CanceledAt)
	}
	if !b.FinishedAt.IsZero() {
		c.Set["finishedAt"] = table.Micros(b.FinishedAt)
	}
	return table.RetryConflicts(ctx, func(int) error {
		steps := append([]table.Step{s.table.UpdateStep(c)}, s.addDeliveries(b.News())...)
		if !b.FinishedAt.IsZero() {
			steps = append(steps, s.table.DeleteStep(openBatchKey(b.ID), "", nil), s.table.UpdateStep(table.Change{Key: batchCountKey(b.Account), Add: table.Item{"batches": table.Number(-1)}}))
		}
		return s.table.Transact(ctx, steps)
	})
}

func (s batches) List(ctx context.Context, account string, before lipsync.Batch, limit int) ([]lipsync.Batch, error) {
	from := behindAll
	if before.ID != "" {
		from = table.Place(before.CreatedAt, before.ID)
	}
	in := table.InIndex(batchesOf(account), "< :before", table.Item{":before": table.Text(from)})
	in.ScanIndexForward = aws.Bool(false)
	return table.Many(ctx, s.table, limit, in, decodeBatch)
}

func (s batches) Unfinished(ctx context.Context, after lipsync.Batch, limit int) ([]lipsync.Batch, error) {
	in := table.InPartition(unfinishedBatches)
	if after.ID != "" {
		in = table.InIndex(unfinishedBatches, "> :after", table.Item{":after": table.Text(table.Place(after.CreatedAt, after.ID))})
	}
	open, err := s.collect(ctx, limit, in)
	if err != nil {
		return nil, err
	}
	all, err := table.Existing(ctx, s.table, table.KeysOf(open, func(f found) table.Item { return batchKey(f.id) }), "", decodeBatch)
	return slices.DeleteFunc(all, func(b lipsync.Batch) bool { return !b.FinishedAt.IsZero() }), err
}

func (s batches) Count(ctx context.Context, account string) (int, error) {
	n := 0
	i, err := s.table.Find(ctx, batchCountKey(account))
	if err == nil {
		err = table.Decode(i, table.Fields{"batches": &n})
	}
	return n, err
}

func (s requests) Several(ctx context.Context, ids []string) ([]lipsync.Request, error) {
	return s.requests(ctx, ids)
}
