package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// Open requests are counted in lanes, and each lane has a share of the account's limit. The end of
// a request changes no lane. When a lane's share is used up and no other lane has any left, the
// open requests are counted again and divided among the lanes. So ending a request never conflicts
// with a create, and no error in the lanes lasts.

// openLanes returns the number of lanes that count open requests for a limit; 0 means no limit.
// It divides only a limit that gives each lane a share of at least 16 requests.
func openLanes(limit int) int {
	if limit < 16*table.Lanes {
		return 1
	}
	return table.Lanes
}

func laneKey(of queue.Owner, lane int) table.Item {
	return table.Key(list(of, "")+"/open/"+strconv.Itoa(lane), "open")
}

// laneFull is the error of a lane whose share is used up, or whose share is of another limit.
type laneFull struct{}

func (laneFull) Error() string { return "the lane is full" }

// countOpened counts a new request in its lane.
func countOpened(of queue.Owner, lane, limit int) table.Change {
	c := table.Change{Key: laneKey(of, lane), Add: table.Item{"opened": table.Number(1)}, Set: table.Item{"limit": table.Number(int64(limit))}, Refused: laneFull{}}
	if limit > 0 {
		c.Condition = "attribute_not_exists(#opened) OR #opened < :share AND #limit = :limit"
		c.Values = table.Item{"share": table.Number(table.Part(int64(limit), lane, openLanes(limit)))}
	}
	return c
}

// openLane is a lane as it was read.
type openLane struct {
	exists        bool
	opened, limit int64
}

// findLane finds a lane that is not full, if necessary by counting the open requests again. With
// the lane it returns table.Conflict, so that the caller tries again. It returns OpenLimit if the owner
// has as many open requests as it may.
func (s *Store) findLane(ctx context.Context, of queue.Owner, limit int) (lane int, err error) {
	var keys []table.Item
	for i := range table.Lanes {
		keys = append(keys, laneKey(of, i))
	}
	items, err := s.table.GetAll(ctx, keys)
	if err != nil {
		return 0, err
	}
	seen := make([]openLane, table.Lanes)
	for i := range seen {
		seen[i].exists = items[i] != nil
		err = errors.Join(err, table.Decode(items[i], table.Fields{"opened": &seen[i].opened, "limit": &seen[i].limit}))
	}
	if err != nil {
		return 0, err
	}
	if lane, ok := emptiest(seen, limit); ok {
		return lane, table.Conflict{}
	}
	return s.recount(ctx, of, limit, seen)
}

// emptiest returns the lane with the most of its share left.
func emptiest(seen []openLane, limit int) (lane int, ok bool) {
	n, most := openLanes(limit), int64(0)
	for i, l := range seen {
		if l.exists && l.limit != int64(limit) {
			return 0, false
		}
		if room := table.Part(int64(limit), i, n) - l.opened; i < n && room > most {
			lane, most = i, room
		}
	}
	return lane, most > 0
}

// recount counts the open requests, and divides them among lanes, which must not have changed
// since they were read.
func (s *Store) recount(ctx context.Context, of queue.Owner, limit int, seen []openLane) (lane int, err error) {
	queries := openQueries(of)
	open, err := table.Total(len(queries), func(n int) (int, error) { return s.table.Count(ctx, limit, queries[n]) })
	if err != nil {
		return 0, err
	}
	if open >= limit {
		return 0, failure.New(failure.OpenLimit, "too many open requests")
	}
	n := openLanes(limit)
	var steps []table.Step
	for i, l := range seen {
		c := table.Change{Key: laneKey(of, i), Condition: "attribute_not_exists(#opened)", Refused: table.Conflict{}}
		if l.exists {
			c.Condition, c.Values = "#opened = :seen", table.Item{"seen": table.Number(l.opened)}
		} else if i >= n {
			continue
		}
		opened := int64(0)
		if i < n {
			opened = table.Part(int64(open), i, n)
		}
		seen[i] = openLane{true, opened, int64(limit)}
		c.Set = table.Item{"opened": table.Number(opened), "limit": table.Number(int64(limit))}
		steps = append(steps, s.table.UpdateStep(c))
	}
	lane, _ = emptiest(seen, limit)
	if err := s.table.Transact(ctx, steps); err != nil {
		return lane, err
	}
	return lane, table.Conflict{}
}

// The bytes of an account's uploads are also counted in lanes. Their items come after the counts
// by day, in the same partitions.

const uploaded = "uploads"

// uploadLane is the key of the item that counts the bytes of the upload and others.
func uploadLane(account, id string) table.Item {
	lane := table.ShardOf(id, table.Lanes)
	return table.Key(table.Shard(usagePartition(account), lane%usageShards), fmt.Sprintf("%s/%02d", uploaded, lane))
}

// gateKey is the key of the item by which uploads are announced one by one, once an account stores
// more than half of its limit.
func gateKey(account string) table.Item { return table.Key("usage/"+table.Digest(account), "gate") }

// bytes has the number of bytes that an account stores.
type bytes struct {
	all   int64
	lanes map[string]int64 // bytes of uploads, by sort key
}

// stored returns how many bytes the account stores, by requests of all kinds and uploads.
func (s *Store) stored(ctx context.Context, account string, now time.Time, keep lipsync.Retention) (b bytes, err error) {
	first := func(days int) time.Time { return now.UTC().AddDate(0, 0, 1-days) }
	used, err := s.usage(ctx, account, day(first(keep.OutputDays())), uploaded+"/~") // after all lanes
	oldest := period(first(keep.RecordDays()))
	b.lanes = make(map[string]int64)
	for _, u := range used {
		if strings.HasPrefix(u.sort, recorded) && u.sort < oldest {
			continue
		}
		b.all += u.size
		b.lanes[u.sort] = u.size
	}
	return b, err
}

// full returns StorageLimit as refused if the account may store no more.
func (s *Store) full(ctx context.Context, account string, now time.Time, limits lipsync.Limits) (refused, err error) {
	if limits.Stored == 0 {
		return nil, nil
	}
	b, err := s.stored(ctx, account, now, limits.Keep)
	if err == nil && b.all >= limits.Stored {
		refused = failure.New(failure.StorageLimit, "too many bytes stored")
	}
	return refused, err
}

func (s requests) Stored(ctx context.Context, account string, now time.Time, keep lipsync.Retention) (int64, error) {
	b, err := s.stored(ctx, account, now, keep)
	return b.all, err
}

// announce returns the steps that count a new upload, if the account may store so much. The steps
// require that the upload's lane has not changed since it was read. So of the uploads that are
// announced at once, at most one in each lane is counted without regard to the others. In the
// second half of the limit none is, because of the gate.
func (s *Store) announce(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) (steps []table.Step, err error) {
	lane := table.Change{Key: uploadLane(u.Account, u.ID), Add: table.Item{"size": table.Number(u.Size)}, Refused: table.Conflict{}}
	if limits.Stored == 0 {
		return []table.Step{s.table.UpdateStep(lane)}, nil
	}
	b, err := s.stored(ctx, u.Account, u.CreatedAt, limits.Keep)
	if err == nil && b.all+u.Size > limits.Stored/2 {
		var gate table.Change
		if gate, err = s.gate(ctx, u.Account); err == nil {
			b, err = s.stored(ctx, u.Account, u.CreatedAt, limits.Keep) // read after the gate
		}
		steps = append(steps, s.table.UpdateStep(gate))
	}
	if err != nil {
		return nil, err
	}
	if b.all+u.Size > limits.Stored {
		return nil, failure.New(failure.StorageLimit, "too many bytes stored")
	}
	lane.Condition = "attribute_not_exists(#size)"
	if seen, ok := b.lanes[lane.Key[table.SortKey].(*types.AttributeValueMemberS).Value]; ok {
		lane.Condition, lane.Values = "#size = :seen", table.Item{"seen": table.Number(seen)}
	}
	return append(steps, s.table.UpdateStep(lane)), nil
}

// gate reads the gate, and returns the change that counts one more upload in it, on the condition
// that nobody has changed it since.
func (s *Store) gate(ctx context.Context, account string) (table.Change, error) {
	c := table.Change{Key: gateKey(account), Add: table.Item{"passed": table.Number(1)}, Condition: "attribute_not_exists(#passed)", Refused: table.Conflict{}}
	var passed int64
	i, err := s.table.Find(ctx, c.Key)
	if i == nil {
		return c, err
	}
	err = table.Decode(i, table.Fields{"passed": &passed})
	c.Condition, c.Values = "#passed = :seen", table.Item{"seen": table.Number(passed)}
	return c, err
}
