package dynamodb

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"lipsync/internal/domain/lipsync"
)

type rates struct{ *Store }

// window is a minute that begins with its first call.
type window struct {
	start time.Time
	taken int64
}

func (w *window) fields() fields { return fields{"start": &w.start, "taken": &w.taken} }

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
func RateLanes(limit int) int { return min(max((limit+callsALane-1)/callsALane, 1), lanes) }

func rateKey(name string, lane int) item { return key(shard("rate/"+digest(name), lane), "rate") }

// Take implements lipsync.Rates. Each lane has a share of the limit. A call is counted in a random
// lane, or if its share is used up, in one that has some left. So a call is refused only if all
// shares are used up. Most calls take one update; the first in a lane's minute takes two. An update
// that is retried because its answer was lost counts twice, so fewer calls than the limit may be
// allowed.
//
// Each lane has its own window, in which it allows no more than its share. A minute overlaps at
// most two windows of a lane, so up to twice the limit may be allowed in it, whatever the number
// of lanes.
func (s rates) Take(ctx context.Context, name string, limit int, now time.Time) (a lipsync.Allowance, err error) {
	n := RateLanes(limit)
	lane := rand.N(n)
	err = retryConflicts(ctx, func(int) (err error) {
		a, err = s.takeFrom(ctx, rateKey(name, lane), part(int64(limit), lane, n), now)
		a.Left *= n // the lanes are used alike
		if err != nil || !a.Refused || n == 1 {
			return err
		}
		if lane, a, err = s.freeLane(ctx, name, limit, now); err == nil && !a.Refused {
			return conflict{}
		}
		return err
	})
	return a, err
}

// takeFrom takes one of limit calls a minute from an item.
func (s *Store) takeFrom(ctx context.Context, key item, limit int64, now time.Time) (lipsync.Allowance, error) {
	is, err := s.update(ctx, change{
		key: key, add: item{"taken": number(1)},
		condition: "#start > :minuteAgo AND #start < :inAMinute AND #taken < :limit",
		values: item{
			"minuteAgo": micros(now.Add(-time.Minute)), "inAMinute": micros(now.Add(time.Minute)), "limit": number(limit),
		},
		refused: conflict{}, tells: true,
	})
	full := errors.Is(err, conflict{})
	if err != nil && !full {
		return lipsync.Allowance{}, err
	}
	var w window
	if err := decode(is, w.fields()); err != nil {
		return lipsync.Allowance{}, err
	}
	if full && w.over(now) {
		return lipsync.Allowance{Left: int(limit) - 1, Resets: time.Minute}, s.begin(ctx, key, w, now)
	}
	return lipsync.Allowance{Refused: full, Left: int(max(limit-w.taken, 0)), Resets: w.start.Add(time.Minute).Sub(now)}, nil
}

// freeLane returns a lane that has some of its share left. If none has, the Allowance is refused and resets when the first one has.
func (s *Store) freeLane(ctx context.Context, name string, limit int, now time.Time) (lane int, a lipsync.Allowance, err error) {
	n := RateLanes(limit)
	var keys []item
	for i := range n {
		keys = append(keys, rateKey(name, i))
	}
	found, err := s.getAll(ctx, keys)
	if err != nil {
		return 0, a, err
	}
	var free []int
	for i := range n {
		var w window
		if err := decode(found[i], w.fields()); err != nil {
			return 0, a, err
		}
		if w.over(now) || w.taken < part(int64(limit), i, n) {
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

// begin begins a window with one call. It returns conflict if the item no longer has the window
// last.
func (s *Store) begin(ctx context.Context, key item, last window, now time.Time) error {
	c := change{
		key: key, set: item{"start": micros(now), "taken": number(1), TimeToLive: expiry(now.Add(time.Minute))},
		condition: "attribute_not_exists(#start)", refused: conflict{},
	}
	if !last.start.IsZero() {
		c.condition, c.values = "#start = :last", item{"last": micros(last.start)}
	}
	_, err := s.update(ctx, c)
	return err
}
