package dynamodb

import (
	"context"
	"fmt"
	"math"
	"time"

	"lipsync/internal/domain/lipsync"
)

const secondsOfDay = 24 * 60 * 60

// usagePartition returns the partition with an account's usage, or the first shard of it.
func usagePartition(account string) string { return "usage/" + digest(account) }

// day returns the day of the time as a part of keys.
func day(t time.Time) string { return padded(t.Unix() / secondsOfDay) }

// dayKey is the key of the item that counts the request among the requests that its account made
// on the same day. Each day has several lanes. Requests of other kinds than ToRender count only with their bytes.
func dayKey(r lipsync.Request) item {
	lane := shardOf(r.ID, lanes)
	return key(shard(usagePartition(r.Account), lane%usageShards), fmt.Sprintf("%s/%02d", day(r.CreatedAt), lane))
}

// The bytes of records are counted by periods of so many days, since records are kept for a year, and each create reads what its account stores.
// Their items come after the counts by day, in the same partitions.
const (
	recorded     = "records"
	daysOfPeriod = 32
)

// period returns the period of the time as a part of keys.
func period(t time.Time) string { return recorded + "/" + padded(t.Unix()/secondsOfDay/daysOfPeriod) }

// countRecord returns the step that adds to the bytes of records of the account in the period of the time at. The id is that of the record.
func (s *Store) countRecord(account, id string, at time.Time, more int64) step {
	lane := shardOf(id, lanes)
	of := key(shard(usagePartition(account), lane%usageShards), fmt.Sprintf("%s/%02d", period(at), lane))
	return change{key: of, add: item{"size": number(more)}}.step(s.table)
}

// uncountSize subtracts the bytes of a deleted output from those that the account stores.
func (s *Store) uncountSize(r lipsync.Request) step {
	return change{key: dayKey(r), add: item{"size": number(-r.Size)}}.step(s.table)
}

// countCreated returns the step that counts a new request.
func (s *Store) countCreated(r lipsync.Request) step {
	return change{key: dayKey(r), add: item{"requests": number(1)}}.step(s.table)
}

// countFinal returns the step that counts how a request ended.
func (s *Store) countFinal(r lipsync.Request) step {
	c := change{key: dayKey(r), add: item{"length": number(r.Length.Microseconds()), "size": number(r.Size)}}
	switch {
	case r.Kind != lipsync.ToRender:
		c.add = item{"size": number(r.Size)}
	case r.Failed():
		c.add = item{"failed": number(1)}
	}
	return c.step(s.table)
}

// used is the usage in one lane of a day, or the bytes in an item of records or uploads.
type used struct {
	sort string
	size int64
	lipsync.Day
}

// usage returns the account's usage from one sort key to another.
func (s *Store) usage(ctx context.Context, account, first, last string) ([]used, error) {
	return gather(usageShards, func(n int) ([]used, error) {
		in := inTable(shard(usagePartition(account), n), "BETWEEN :first AND :last", item{":first": text(first), ":last": text(last)})
		return many(ctx, s, math.MaxInt, in, decoder(func(u *used) fields {
			return fields{SortKey: &u.sort, "size": &u.size, "requests": &u.Requests, "failed": &u.Failed, "length": &u.Output}
		}))
	})
}

func (s requests) Usage(ctx context.Context, account string, now time.Time, days int) ([]lipsync.Day, error) {
	first := now.Unix()/secondsOfDay - int64(days) + 1
	found, err := s.usage(ctx, account, padded(first), day(now)+"/~") // after all lanes
	all := make([]lipsync.Day, days)
	for i := range all {
		for _, u := range found {
			if u.sort[:len(padded(0))] == padded(first+int64(i)) {
				all[i].Requests += u.Requests
				all[i].Failed += u.Failed
				all[i].Output += u.Output
			}
		}
	}
	return all, err
}
