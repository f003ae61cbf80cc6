package clock

import (
	"sync"
	"time"
)

const (
	// mostAhead is how far the clock may be ahead of the newest time that is known. It is more than the time between two
	// looks of a server, and media that are deleted so much too early are old.
	mostAhead = 6 * time.Hour
	// doubtTime is how long a clock that is further ahead is doubted. Time synchronisation corrects a wrong one within minutes;
	// a machine that was off for days is right, and deletes an hour later.
	doubtTime = time.Hour
)

// Doubt doubts a clock that is far ahead of the newest time that is known, since it may be wrong: what is deleted by its age would
// be deleted too early. Its first fields are set once, before use.
type Doubt struct {
	Now     func() time.Time
	Elapsed func() time.Duration // time that the process has run; setting the clock does not change it
	Newest  time.Time            // that the records had when Elapsed was 0; zero if they are new
	// Warn learns how far the clock is ahead when a doubt begins.
	Warn func(ahead time.Duration)

	mu      sync.Mutex
	elapsed time.Duration // at the last call of Trusted that returned true
	doubted bool
	since   time.Duration // value of Elapsed when the doubt began
}

// Trusted reports whether the clock may decide what is deleted by its age.
func (d *Doubt) Trusted() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, elapsed := d.Now().Round(0), d.Elapsed()
	ahead := now.Sub(d.Newest) - (elapsed - d.elapsed)
	if !d.Newest.IsZero() && ahead > mostAhead {
		if !d.doubted {
			d.doubted, d.since = true, elapsed
			d.Warn(ahead)
		}
		if elapsed-d.since < doubtTime {
			return false
		}
	}
	d.Newest, d.elapsed, d.doubted = now, elapsed, false
	return true
}
