package dynamodb

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
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

func batchKey(id string) item { return key("batch/"+id, ofBatch) }

// openBatchKey is the key of the item that says that a batch isn't finished.
func openBatchKey(id string) item { return key("batch/"+id, "open") }

func batchesOf(account string) string { return unfinishedBatches + "/" + digest(account) }

// batchCountKey is the key of the item that counts the account's batches that aren't finished. They begin and end seldom, so one item bears
// it. Each begins once and ends once, so the count is exact.
func batchCountKey(account string) item { return key(batchesOf(account), "open") }

func batchSort(b lipsync.Batch) string { return padded(b.CreatedAt.UnixMicro()) + "/" + b.ID }

// batchFields returns the fields of a batch, with the text of its targets.
func batchFields(b *lipsync.Batch, targets *string) fields {
	return fields{
		"id": &b.ID, "account": &b.Account, "keyID": &b.KeyID, "callID": &b.CallID, "lines": &b.Lines, "targets": targets,
		"fingerprint": &b.Fingerprint, "createdAt": &b.CreatedAt, "canceledAt": &b.CanceledAt, "finishedAt": &b.FinishedAt,
		"version": &b.Version,
	}
}

func decodeBatch(i item) (b lipsync.Batch, err error) {
	var targets string
	if err := decode(i, batchFields(&b, &targets)); err != nil {
		return lipsync.Batch{}, err
	}
	b.Targets, err = lipsync.ParseTargets(targets)
	return b, err
}

func (s batches) Create(ctx context.Context, b lipsync.Batch, limits lipsync.Limits) error {
	i := with(encode(batchFields(&b, new(b.Targets.Text()))), batchKey(b.ID))
	i[OpenPartition], i[OpenSort] = text(batchesOf(b.Account)), text(batchSort(b))
	i[TimeToLive] = expiry(b.CreatedAt.Add(batchTime + limits.Keep.RecordLife()))
	open := with(item{"id": text(b.ID), OpenPartition: text(unfinishedBatches), OpenSort: text(batchSort(b))}, openBatchKey(b.ID))
	var there error = failure.New(failure.Conflict, "the batch is there")
	count := change{key: batchCountKey(b.Account), add: item{"batches": number(1)}}
	if limits.Batches > 0 {
		count.condition, count.values = "attribute_not_exists(#batches) OR #batches < :limit", item{"limit": number(int64(limits.Batches))}
		count.refused = failure.New(failure.BatchLimit, "too many unfinished batches")
	}
	return retryConflicts(ctx, func(int) error {
		return s.transact(ctx, []step{
			s.put(i, "attribute_not_exists(#pk)", nil, there), s.put(open, "", nil, nil), count.step(s.table),
			s.countRecord(b.Account, b.ID, b.CreatedAt, b.RecordSize()),
		})
	})
}

func (s batches) ByID(ctx context.Context, id string) (lipsync.Batch, error) {
	return one(ctx, s.Store, batchKey(id), decodeBatch)
}

func (s batches) Swap(ctx context.Context, b lipsync.Batch) error {
	c := change{
		key: batchKey(b.ID), set: item{"lines": text(b.Lines), "version": number(b.Version + 1)},
		condition: "#version = :seen", values: item{"seen": number(b.Version)}, refused: failure.New(failure.Conflict, "batch was changed"),
	}
	if !b.CanceledAt.IsZero() {
		c.set["canceledAt"] = micros(b.CanceledAt)
	}
	if !b.FinishedAt.IsZero() {
		c.set["finishedAt"] = micros(b.FinishedAt)
	}
	return retryConflicts(ctx, func(int) error {
		steps := append([]step{c.step(s.table)}, s.addDeliveries(b.News())...)
		if !b.FinishedAt.IsZero() {
			steps = append(steps, s.remove(openBatchKey(b.ID), "", nil), change{key: batchCountKey(b.Account), add: item{"batches": number(-1)}}.step(s.table))
		}
		return s.transact(ctx, steps)
	})
}

func (s batches) List(ctx context.Context, account string, before lipsync.Batch, limit int) ([]lipsync.Batch, error) {
	from := behindAll
	if before.ID != "" {
		from = batchSort(before)
	}
	in := inIndex(batchesOf(account), "< :before", item{":before": text(from)})
	in.ScanIndexForward = aws.Bool(false)
	return many(ctx, s.Store, limit, in, decodeBatch)
}

func (s batches) Unfinished(ctx context.Context, after lipsync.Batch, limit int) ([]lipsync.Batch, error) {
	in := inPartition(unfinishedBatches)
	if after.ID != "" {
		in = inIndex(unfinishedBatches, "> :after", item{":after": text(batchSort(after))})
	}
	open, err := s.collect(ctx, limit, in)
	if err != nil {
		return nil, err
	}
	all, err := existing(ctx, s.Store, keysOf(open, func(f found) item { return batchKey(f.id) }), decodeBatch)
	return slices.DeleteFunc(all, func(b lipsync.Batch) bool { return !b.FinishedAt.IsZero() }), err
}

func (s batches) Count(ctx context.Context, account string) (int, error) {
	n := 0
	i, err := s.find(ctx, batchCountKey(account))
	if err == nil {
		err = decode(i, fields{"batches": &n})
	}
	return n, err
}

func (s requests) Several(ctx context.Context, ids []string) ([]lipsync.Request, error) {
	return s.requests(ctx, ids)
}
