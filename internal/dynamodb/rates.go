package dynamodb

import (
	"context"
	"errors"
	"time"
)

// window is a minute that begins with the first call in it.
type window struct {
	start time.Time
	taken int64
}

func (w *window) fields() []field { return []field{{"start", &w.start}, {"taken", &w.taken}} }

// over reports whether now is outside the window. Clocks of two machines differ
// a little, so a window may begin later than now; but not by a minute, or a name
// could wait for hours once a clock was set back.
func (w window) over(now time.Time) bool {
	return !now.Before(w.start.Add(time.Minute)) || !now.After(w.start.Add(-time.Minute))
}

// Take implements lipsync.Rates. Most calls are one update, the first one of a
// minute two. A call whose answer was lost on its way is made again, and counts
// twice then: more than limit never get through in a minute, but fewer may.
func (s *Store) Take(ctx context.Context, name string, limit int, now time.Time) (wait time.Duration, err error) {
	key := key("rate/"+digest(name), "rate")
	err = patiently(ctx, func(int) error {
		old, err := s.update(ctx, change{
			key: key, add: item{"taken": number(1)},
			condition: "#start > :minuteAgo AND #start < :inAMinute AND #taken < :limit",
			values: item{
				"minuteAgo": micros(now.Add(-time.Minute)), "inAMinute": micros(now.Add(time.Minute)), "limit": number(int64(limit)),
			},
			refused: moved{},
		})
		if !errors.Is(err, moved{}) {
			return err
		}
		var w window
		if err := decode(old, w.fields()); err != nil {
			return err
		}
		if !w.over(now) {
			wait = w.start.Add(time.Minute).Sub(now)
			return nil
		}
		return s.begin(ctx, key, w, now)
	})
	return wait, err
}

// begin begins a window with one call, after the one that was seen last.
func (s *Store) begin(ctx context.Context, key item, last window, now time.Time) error {
	c := change{
		key: key, set: item{"start": micros(now), "taken": number(1), TimeToLive: expiry(now.Add(time.Minute))},
		condition: "attribute_not_exists(#start)", refused: moved{},
	}
	if !last.start.IsZero() {
		c.condition, c.values = "#start = :last", item{"last": micros(last.start)}
	}
	_, err := s.update(ctx, c)
	return err
}
