package dynamodb

import (
	"context"
	"fmt"
	"math"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

const secondsOfDay = 24 * 60 * 60

// usagePartition returns the partition with an account's usage, or the first shard of it.
func usagePartition(account string) string { return "usage/" + table.Digest(account) }

// day returns the day of the time as a part of keys.
func day(t time.Time) string { return table.Padded(t.Unix() / secondsOfDay) }

// dayKey is the key of the item that counts the request among the requests that its account made
// on the same day. Each day has several lanes. Requests of other kinds than ToRender count only with their bytes.
func dayKey(r lipsync.Request) table.Item {
	lane := table.ShardOf(r.ID, table.Lanes)
	return table.Key(table.Shard(usagePartition(r.Account), lane%usageShards), fmt.Sprintf("%s/%02d", day(r.CreatedAt), lane))
}

// The bytes of records are counted by periods of so many days, since records are kept for a year, and each create reads what its account stores.
// Their items come after the counts by day, in the same partitions.
const (
	recorded     = "records"
	daysOfPeriod = 32
)

// period returns the period of the time as a part of keys.
func period(t time.Time) string {
	return recorded + "/" + table.Padded(t.Unix()/secondsOfDay/daysOfPeriod)
}

// countRecord returns the step that adds to the bytes of records of the account in the period of the time at. The id is that of the record.
func (s *Store) countRecord(account, id string, at time.Time, more int64) table.Step {
	lane := table.ShardOf(id, table.Lanes)
	of := table.Key(table.Shard(usagePartition(account), lane%usageShards), fmt.Sprintf("%s/%02d", period(at), lane))
	return s.table.UpdateStep(table.Change{Key: of, Add: table.Item{"size": table.Number(more)}})
}

// uncountSize subtracts the bytes of a deleted output from those that the account stores.
func (s *Store) uncountSize(r lipsync.Request) table.Step {
	return s.table.UpdateStep(table.Change{Key: dayKey(r), Add: table.Item{"size": table.Number(-r.Size)}})
}

// countCreated returns the step that counts a new request.
func (s *Store) countCreated(r lipsync.Request) table.Step {
	return s.table.UpdateStep(table.Change{Key: dayKey(r), Add: table.Item{"requests": table.Number(1)}})
}

// countFinal returns the step that counts how a request ended.
func (s *Store) countFinal(r lipsync.Request) table.Step {
	c := table.Change{Key: dayKey(r), Add: table.Item{"length": table.Number(r.Length.Microseconds()), "size": table.Number(r.Size)}}
	switch {
	case r.Kind != lipsync.ToRender:
		c.Add = table.Item{"size": table.Number(r.Size)}
	case r.Failed():
		c.Add = table.Item{"failed": table.Number(1)}
	}
	return s.table.UpdateStep(c)
}

// used is the usage in one lane of a day, or the bytes in an item of records or uploads.
type used struct {
	sort string
	size int64
	lipsync.Day
}

// usage returns the account's usage from one sort key to another.
func (s *Store) usage(ctx context.Context, account, first, last string) ([]used, error) {
	return table.Gather(usageShards, func(n int) ([]used, error) {
		in := table.InTable(table.Shard(usagePartition(account), n), "BETWEEN :first AND :last", table.Item{":first": table.Text(first), ":last": table.Text(last)})
		return table.Many(ctx, s.table, math.MaxInt, in, table.Decoder(func(u *used) table.Fields {
			return table.Fields{table.SortKey: &u.sort, "size": &u.size, "requests": &u.Requests, "failed": &u.Failed, "length": &u.Output}
		}))
	})
}

func (s requests) Usage(ctx context.Context, account string, now time.Time, days int) ([]lipsync.Day, error) {
	first := now.Unix()/secondsOfDay - int64(days) + 1
	found, err := s.usage(ctx, account, table.Padded(first), day(now)+"/~") // after all lanes
	all := make([]lipsync.Day, days)
	for i := range all {
		for _, u := range found {
			if u.sort[:len(table.Padded(0))] == table.Padded(first+int64(i)) {
				all[i].Requests += u.Requests
				all[i].Failed += u.Failed
				all[i].Output += u.Output
			}
		}
	}
	return all, err
}
