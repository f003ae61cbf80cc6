package callers

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Rates counts calls in the table.
type Rates struct{ Table *table.Table }

// window is a minute that begins with its first call.
type window struct {
	start time.Time
	taken int64
}

func (w *window) fields() table.Fields { return table.Fields{"start": &w.start, "taken": &w.taken} }

// over reports whether now is outside the window. The clocks of two machines differ a little, so a
// window may begin slightly later than now. But a window a minute or more ahead counts as over;
// otherwise callers could wait for hours after a clock was set back.
func (w window) over(now time.Time) bool {
	return !now.Before(w.start.Add(time.Minute)) || !now.After(w.start.Add(-time.Minute))
}

// callsALane is the most calls a minute that one item counts. Even if all come within six seconds,
// they are no more than 500 writes a second of the item.
const callsALane = 3000

// RateLanes returns the number of items that count calls for a limit of calls a minute.
func RateLanes(limit int) int { return min(max((limit+callsALane-1)/callsALane, 1), table.Lanes) }

func rateKey(name string, lane int) table.Item {
	return table.Key(table.Shard(rates+table.Digest(name), lane), "rate")
}

// Take counts a call in a lane. Each lane has a share of the limit. A call is counted in a random
// lane, or if its share is used up, in one that has some left. So a call is refused only if all
// shares are used up. Most calls take one update; the first in a lane's minute takes two. An update
// that is retried because its answer was lost counts twice, so fewer calls than the limit may be
// allowed.
//
// Each lane has its own window, in which it allows no more than its share. A minute overlaps at
// most two windows of a lane, so up to twice the limit may be allowed in it, whatever the number
// of lanes.
func (s Rates) Take(ctx context.Context, name string, limit int, now time.Time) (a lipsync.Allowance, err error) {
	n := RateLanes(limit)
	lane := rand.N(n)
	err = table.RetryConflicts(ctx, func(int) (err error) {
		a, err = s.takeFrom(ctx, rateKey(name, lane), table.Part(int64(limit), lane, n), now)
		a.Left *= n // the lanes are used alike
		if err != nil || !a.Refused || n == 1 {
			return err
		}
		if lane, a, err = s.freeLane(ctx, name, limit, now); err == nil && !a.Refused {
			return table.Conflict{}
		}
		return err
	})
	return a, err
}

// takeFrom takes one of limit calls a minute from an item.
func (s Rates) takeFrom(ctx context.Context, key table.Item, limit int64, now time.Time) (lipsync.Allowance, error) {
	is, err := s.Table.Update(ctx, table.Change{
		Key: key, Add: table.Item{"taken": table.Number(1)},
		Condition: "#start > :minuteAgo AND #start < :inAMinute AND #taken < :limit",
		Values: table.Item{
			"minuteAgo": table.Micros(now.Add(-time.Minute)), "inAMinute": table.Micros(now.Add(time.Minute)), "limit": table.Number(limit),
		},
		Refused: table.Conflict{}, Tells: true,
	})
	full := errors.Is(err, table.Conflict{})
	if err != nil && !full {
		return lipsync.Allowance{}, err
	}
	var w window
	if err := table.Decode(is, w.fields()); err != nil {
		return lipsync.Allowance{}, err
	}
	if full && w.over(now) {
		return lipsync.Allowance{Left: int(limit) - 1, Resets: time.Minute}, s.begin(ctx, key, w, now)
	}
	return lipsync.Allowance{Refused: full, Left: int(max(limit-w.taken, 0)), Resets: w.start.Add(time.Minute).Sub(now)}, nil
}

// freeLane returns a lane that has some of its share left. If none has, the Allowance is refused and resets when the first one has.
func (s Rates) freeLane(ctx context.Context, name string, limit int, now time.Time) (lane int, a lipsync.Allowance, err error) {
	n := RateLanes(limit)
	var keys []table.Item
	for i := range n {
		keys = append(keys, rateKey(name, i))
	}
	found, err := s.Table.GetAll(ctx, keys)
	if err != nil {
		return 0, a, err
	}
	var free []int
	for i := range n {
		var w window
		if err := table.Decode(found[i], w.fields()); err != nil {
			return 0, a, err
		}
		if w.over(now) || w.taken < table.Part(int64(limit), i, n) {
			free = append(free, i)
		} else if left := w.start.Add(time.Minute).Sub(now); a.Resets == 0 || left < a.Resets {
			a.Resets = left
		}
	}
	if a.Refused = len(free) == 0; a.Refused {
		return 0, a, nil
	}
	return free[rand.N(len(free))], a, nil
}

// begin begins a window with one call. It returns table.Conflict if the item no longer has the window
// last.
func (s Rates) begin(ctx context.Context, key table.Item, last window, now time.Time) error {
	c := table.Change{
		Key: key, Set: table.Item{"start": table.Micros(now), "taken": table.Number(1), table.TimeToLive: table.Expiry(now.Add(time.Minute))},
		Condition: "attribute_not_exists(#start)", Refused: table.Conflict{},
	}
	if !last.start.IsZero() {
		c.Condition, c.Values = "#start = :last", table.Item{"last": table.Micros(last.start)}
	}
	_, err := s.Table.Update(ctx, c)
	return err
}
