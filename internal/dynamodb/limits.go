package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/lipsync"
)

// Open requests are counted in lanes, each of which has a share of the limit. What ends takes
// nothing off them: when a share is used up, and no other lane has room, what is open is counted
// anew, and divided among the lanes. So the end of a request writes nothing that creates write
// too, and no error in the lanes stays.

// openLanes returns in how many lanes open requests are counted for a limit; 0 is none. The
// share of each is to be some creates at least.
func openLanes(limit int) int {
	if limit < 16*lanes {
		return 1
	}
	return lanes
}

// part returns what of a number belongs to lane i of n.
func part(number int64, i, n int) int64 {
	p := number / int64(n)
	if int64(i) < number%int64(n) {
		p++
	}
	return p
}

func laneKey(account string, lane int) item {
	return key(list(account, "")+"/open/"+strconv.Itoa(lane), "open")
}

// noRoom is the error of a lane whose share is used up, or which was made for another limit.
type noRoom struct{}

func (noRoom) Error() string { return "no room in this lane" }

// countOpened counts a new request in its lane.
func countOpened(account string, lane, limit int) change {
	c := change{key: laneKey(account, lane), add: item{"opened": number(1)}, set: item{"limit": number(int64(limit))}, refused: noRoom{}}
	if limit > 0 {
		c.condition = "attribute_not_exists(#opened) OR #opened < :share AND #limit = :limit"
		c.values = item{"share": number(part(int64(limit), lane, openLanes(limit)))}
	}
	return c
}

// openLane is a lane as it was seen.
type openLane struct {
	exists        bool
	opened, limit int64
}

// makeRoom finds a lane with room. If it has to count for that, it returns moved when it has,
// and OpenLimit if the account has as many open requests as it may have.
func (s *Store) makeRoom(ctx context.Context, account string, limit int) (lane int, err error) {
	var keys []item
	for i := range lanes {
		keys = append(keys, laneKey(account, i))
	}
	items, err := s.getAll(ctx, append(keys, headKey(list(account, ""))))
	if err != nil {
		return 0, err
	}
	var h head
	err = decode(items[lanes], h.fields())
	seen := make([]openLane, lanes)
	for i := range seen {
		seen[i].exists = items[i] != nil
		err = errors.Join(err, decode(items[i], []field{{"opened", &seen[i].opened}, {"limit", &seen[i].limit}}))
	}
	if err != nil {
		return 0, err
	}
	if h.counted || h.older == 0 {
		if lane, ok := roomiest(seen, limit); ok {
			return lane, moved{}
		}
	}
	return s.recount(ctx, account, limit, seen)
}

// roomiest returns the lane with most room.
func roomiest(seen []openLane, limit int) (lane int, ok bool) {
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

// recount counts what is open, and divides it among lanes that are as they were seen.
func (s *Store) recount(ctx context.Context, account string, limit int, seen []openLane) (lane int, err error) {
	open, err := s.countAll(ctx, openQueries(account), limit)
	if err != nil {
		return 0, err
	}
	if open >= int64(limit) {
		return 0, refusal(lipsync.OpenLimit, "too many open requests")
	}
	n := openLanes(limit)
	steps := []step{change{key: headKey(list(account, "")), set: item{"counted": &types.AttributeValueMemberBOOL{Value: true}}}.step(s.table)}
	for i, l := range seen {
		c := change{key: laneKey(account, i), condition: "attribute_not_exists(#opened)", refused: moved{}}
		if l.exists {
			c.condition, c.values = "#opened = :seen", item{"seen": number(l.opened)}
		} else if i >= n {
			continue
		}
		opened := int64(0)
		if i < n {
			opened = part(open, i, n)
		}
		seen[i] = openLane{true, opened, int64(limit)}
		c.set = item{"opened": number(opened), "limit": number(int64(limit))}
		steps = append(steps, c.step(s.table))
	}
	lane, _ = roomiest(seen, limit)
	if err := s.transact(ctx, steps); err != nil {
		return lane, err
	}
	return lane, moved{}
}

// The bytes of an account's uploads are counted in lanes too, behind those that count by days.
// Older versions counted them in one item, which is there still.

const uploaded = "uploads"

// uploadLane is the item that counts the bytes of the upload among others.
func uploadLane(account, id string) item {
	lane := shardOf(id, lanes)
	return key(shard(usagePartition(account), lane%usageShards), fmt.Sprintf("%s/%02d", uploaded, lane))
}

// gateKey is the item that uploads pass one by one once an account stores more than half of
// what it may.
func gateKey(account string) item { return key("usage/"+digest(account), "gate") }

// bytes is what an account stores.
type bytes struct {
	all   int64
	lanes map[string]int64 // of uploads, by sort key
}

// stored returns how many bytes the account stores.
func (s *Store) stored(ctx context.Context, account string, now time.Time, limits lipsync.Limits) (b bytes, err error) {
	first := now.UTC().AddDate(0, 0, 1-limits.Keep.OutputDays())
	used, err := s.usage(ctx, account, day(first), uploaded+"/~") // behind all lanes
	b.lanes = make(map[string]int64)
	for _, u := range used {
		b.all += u.size
		b.lanes[u.sort] = u.size
	}
	return b, err
}

// announce returns what counts a new upload, as far as the account may store so much. Lanes
// must be as they were seen, so that no more uploads than there are lanes can miss each other;
// and in the second half of the limit none can.
func (s *Store) announce(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) (steps []step, err error) {
	lane := change{key: uploadLane(u.Account, u.ID), add: item{"size": number(u.Size)}, refused: moved{}}
	if limits.Stored == 0 {
		return []step{lane.step(s.table)}, nil
	}
	b, err := s.stored(ctx, u.Account, u.CreatedAt, limits)
	if err == nil && b.all+u.Size > limits.Stored/2 {
		var gate change
		if gate, err = s.gate(ctx, u.Account); err == nil {
			b, err = s.stored(ctx, u.Account, u.CreatedAt, limits) // after the gate was seen
		}
		steps = append(steps, gate.step(s.table))
	}
	if err != nil {
		return nil, err
	}
	if b.all+u.Size > limits.Stored {
		return nil, refusal(lipsync.StorageLimit, "too many bytes stored")
	}
	lane.condition = "attribute_not_exists(#size)"
	if seen, ok := b.lanes[lane.key[SortKey].(*types.AttributeValueMemberS).Value]; ok {
		lane.condition, lane.values = "#size = :seen", item{"seen": number(seen)}
	}
	return append(steps, lane.step(s.table)), nil
}

// gate returns the change of a gate that is as it is seen now.
func (s *Store) gate(ctx context.Context, account string) (change, error) {
	c := change{key: gateKey(account), add: item{"passed": number(1)}, condition: "attribute_not_exists(#passed)", refused: moved{}}
	var passed int64
	i, err := s.get(ctx, c.key)
	if lipsync.CodeOf(err) == lipsync.NotFound {
		return c, nil
	}
	if err == nil {
		err = decode(i, []field{{"passed", &passed}})
	}
	c.condition, c.values = "#passed = :seen", item{"seen": number(passed)}
	return c, err
}
