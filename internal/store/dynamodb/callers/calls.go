package callers

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Calls has the last calls of each account. Each call is an item with its time and id as the sort key, and a TimeToLive, so a note is one write and nothing has to
// be deleted. List reads the last ones. What an account stores so is bounded by the rates of its keys: at 600 calls a minute that all fail, some
// 200 MB a day for a key.
type Calls struct{ Table *table.Table }

// callsOf is the partition of an account's calls.
func callsOf(account string) string { return calls + table.Digest(account) }

func callFields(c *lipsync.Call) table.Fields {
	return table.Fields{
		"at": &c.At, "call": &c.ID, "method": &c.Method, "route": &c.Route, "status": &c.Status, "code": (*string)(&c.Code), "key": &c.KeyID,
		"request": &c.RequestID,
	}
}

func (s Calls) Note(ctx context.Context, account string, c lipsync.Call) error {
	sort := table.Place(c.At, c.ID)
	_, err := s.Table.Update(ctx, table.Change{Key: table.Key(callsOf(account), sort), Set: table.With(table.Encode(callFields(&c)), table.Item{table.TimeToLive: table.Expiry(c.At.Add(lipsync.CallLife))})})
	return err
}

// last returns up to limit items of the account's last calls since a time, newest first.
func (s Calls) last(ctx context.Context, account string, since time.Time, limit int) (all []table.Item, err error) {
	in := table.InTable(callsOf(account), "> :since", table.Item{":since": table.Text(table.Padded(since.UnixMicro() + 1))})
	in.ScanIndexForward = aws.Bool(false)
	return table.Many(ctx, s.Table, limit, in, func(i table.Item) (table.Item, error) { return i, nil })
}

func (s Calls) List(ctx context.Context, account string, now time.Time) ([]lipsync.Call, error) {
	items, err := s.last(ctx, account, now.Add(-lipsync.CallLife), lipsync.MostCalls)
	all := make([]lipsync.Call, len(items))
	for n, i := range items {
		if err := table.Decode(i, callFields(&all[n])); err != nil {
			return nil, err
		}
	}
	return all, err
}

const (
	// eraseMost is the number of items that Erase deletes at most, and eraseTogether of how many at a time.
	eraseMost     = 10_000
	eraseTogether = 25
)

func (s Calls) Erase(ctx context.Context, account string) (more bool, err error) {
	items, err := s.last(ctx, account, time.Unix(0, 0), eraseMost)
	if err != nil {
		return true, err
	}
	for some := range slices.Chunk(items, eraseTogether) {
		if err := table.Together(len(some), func(i int) error {
			return s.Table.Delete(ctx, table.Item{table.PartitionKey: some[i][table.PartitionKey], table.SortKey: some[i][table.SortKey]})
		}); err != nil {
			return true, err
		}
	}
	return len(items) == eraseMost, nil
}

// Expire does nothing. The items have a TimeToLive.
func (s Calls) Expire(context.Context, time.Time) error { return nil }
