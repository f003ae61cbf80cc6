package sqlite

import (
	"context"
	"maps"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

// rates counts calls in memory: only one process serves the API, and
// the counts of a minute are not worth a write to the disk for each call.
type rates struct {
	mu      sync.Mutex
	windows map[string]window
	pruned  time.Time
}

// window is a minute that begins with the first call in it.
type window struct {
	start time.Time
	taken int
}

// over reports whether now is outside the window. The window also ends if the clock was set back;
// otherwise a name could wait for hours.
func (w window) over(now time.Time) bool {
	return now.Before(w.start) || !now.Before(w.start.Add(time.Minute))
}

func (r *rates) Take(_ context.Context, name string, limit int, now time.Time) (lipsync.Allowance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(now)
	w, ok := r.windows[name]
	if !ok || w.over(now) {
		w = window{start: now}
	}
	a := lipsync.Allowance{Refused: w.taken >= limit, Resets: w.start.Add(time.Minute).Sub(now)}
	if !a.Refused {
		w.taken++
		r.windows[name] = w
	}
	a.Left = max(0, limit-w.taken)
	return a, nil
}

// prune deletes windows that are over, about once a minute.
func (r *rates) prune(now time.Time) {
	if (window{start: r.pruned}).over(now) {
		maps.DeleteFunc(r.windows, func(_ string, w window) bool { return w.over(now) })
		r.pruned = now
	}
}
