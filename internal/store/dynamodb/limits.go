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
)

// Open requests are counted in lanes, and each lane has a share of the account's limit. The end of
// a request changes no lane. When a lane's share is used up and no other lane has any left, the
// open requests are counted again and divided among the lanes. So ending a request never conflicts
// with a create, and no error in the lanes lasts.

// openLanes returns the number of lanes that count open requests for a limit; 0 means no limit.
// It divides only a limit that gives each lane a share of at least 16 requests.
func openLanes(limit int) int {
	if limit < 16*lanes {
		return 1
	}
	return lanes
}

// part returns the share of a number that belongs to lane i of n.
func part(number int64, i, n int) int64 {
	p := number / int64(n)
	if int64(i) < number%int64(n) {
		p++
	}
	return p
}

func laneKey(of owner, lane int) item {
	return key(list(of, "")+"/open/"+strconv.Itoa(lane), "open")
}

// laneFull is the error of a lane whose share is used up, or whose share is of another limit.
type laneFull struct{}

func (laneFull) Error() string { return "the lane is full" }

// countOpened counts a new request in its lane.
func countOpened(of owner, lane, limit int) change {
	c := change{key: laneKey(of, lane), add: item{"opened": number(1)}, set: item{"limit": number(int64(limit))}, refused: laneFull{}}
	if limit > 0 {
		c.condition = "attribute_not_exists(#opened) OR #opened < :share AND #limit = :limit"
		c.values = item{"share": number(part(int64(limit), lane, openLanes(limit)))}
	}
	return c
}

// openLane is a lane as it was read.
type openLane struct {
	exists        bool
	opened, limit int64
}

// findLane finds a lane that is not full, if necessary by counting the open requests again. With
// the lane it returns conflict, so that the caller tries again. It returns OpenLimit if the owner
// has as many open requests as it may.
func (s *Store) findLane(ctx context.Context, of owner, limit int) (lane int, err error) {
	var keys []item
	for i := range lanes {
		keys = append(keys, laneKey(of, i))
	}
	items, err := s.getAll(ctx, keys)
	if err != nil {
		return 0, err
	}
	seen := make([]openLane, lanes)
	for i := range seen {
		seen[i].exists = items[i] != nil
		err = errors.Join(err, decode(items[i], fields{"opened": &seen[i].opened, "limit": &seen[i].limit}))
	}
	if err != nil {
		return 0, err
	}
	if lane, ok := emptiest(seen, limit); ok {
		return lane, conflict{}
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
		if room := part(int64(limit), i, n) - l.opened; i < n && room > most {
			lane, most = i, room
		}
	}
	return lane, most > 0
}

// recount counts the open requests, and divides them among lanes, which must not have changed
// since they were read.
func (s *Store) recount(ctx context.Context, of owner, limit int, seen []openLane) (lane int, err error) {
	queries := openQueries(of)
	open, err := total(len(queries), func(n int) (int, error) { return s.count(ctx, limit, queries[n]) })
	if err != nil {
		return 0, err
	}
	if open >= limit {
		return 0, failure.New(failure.OpenLimit, "too many open requests")
	}
	n := openLanes(limit)
	var steps []step
	for i, l := range seen {
		c := change{key: laneKey(of, i), condition: "attribute_not_exists(#opened)", refused: conflict{}}
		if l.exists {
			c.condition, c.values = "#opened = :seen", item{"seen": number(l.opened)}
		} else if i >= n {
			continue
		}
		opened := int64(0)
		if i < n {
			opened = part(int64(open), i, n)
		}
		seen[i] = openLane{true, opened, int64(limit)}
		c.set = item{"opened": number(opened), "limit": number(int64(limit))}
		steps = append(steps, c.step(s.table))
	}
	lane, _ = emptiest(seen, limit)
	if err := s.transact(ctx, steps); err != nil {
		return lane, err
	}
	return lane, conflict{}
}

// The bytes of an account's uploads are also counted in lanes. Their items come after the counts
// by day, in the same partitions.

const uploaded = "uploads"

// uploadLane is the key of the item that counts the bytes of the upload and others.
func uploadLane(account, id string) item {
	lane := shardOf(id, lanes)
	return key(shard(usagePartition(account), lane%usageShards), fmt.Sprintf("%s/%02d", uploaded, lane))
}

// gateKey is the key of the item by which uploads are announced one by one, once an account stores
// more than half of its limit.
func gateKey(account string) item { return key("usage/"+digest(account), "gate") }

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
func (s *Store) announce(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) (steps []step, err error) {
	lane := change{key: uploadLane(u.Account, u.ID), add: item{"size": number(u.Size)}, refused: conflict{}}
	if limits.Stored == 0 {
		return []step{lane.step(s.table)}, nil
	}
	b, err := s.stored(ctx, u.Account, u.CreatedAt, limits.Keep)
	if err == nil && b.all+u.Size > limits.Stored/2 {
		var gate change
		if gate, err = s.gate(ctx, u.Account); err == nil {
			b, err = s.stored(ctx, u.Account, u.CreatedAt, limits.Keep) // read after the gate
		}
		steps = append(steps, gate.step(s.table))
	}
	if err != nil {
		return nil, err
	}
	if b.all+u.Size > limits.Stored {
		return nil, failure.New(failure.StorageLimit, "too many bytes stored")
	}
	lane.condition = "attribute_not_exists(#size)"
	if seen, ok := b.lanes[lane.key[SortKey].(*types.AttributeValueMemberS).Value]; ok {
		lane.condition, lane.values = "#size = :seen", item{"seen": number(seen)}
	}
	return append(steps, lane.step(s.table)), nil
}

// gate reads the gate, and returns the change that counts one more upload in it, on the condition
// that nobody has changed it since.
func (s *Store) gate(ctx context.Context, account string) (change, error) {
	c := change{key: gateKey(account), add: item{"passed": number(1)}, condition: "attribute_not_exists(#passed)", refused: conflict{}}
	var passed int64
	i, err := s.find(ctx, c.key)
	if i == nil {
		return c, err
	}
	err = decode(i, fields{"passed": &passed})
	c.condition, c.values = "#passed = :seen", item{"seen": number(passed)}
	return c, err
}
