// Package clock notices when a machine's clock may be wrong: set forward, or far ahead of the newest time that is known.
package clock

import (
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

// maxStep is how far the clock may get ahead between two calls of Settled before it counts as set
// forward. It is more than one correction by time synchronisation.
const maxStep = 5 * time.Second

// Watch notices when the clock is set forward. Its fields are set once, before use.
type Watch struct {
	Now     func() time.Time
	Elapsed func() time.Duration // time that the process has run; setting the clock does not change it

	mu      sync.Mutex
	looked  bool
	now     time.Time     // at the last call of Settled
	elapsed time.Duration // at the last call of Settled
	settled time.Duration // value of Elapsed from which leases can be compared with the clock
}

// Settled reports whether leases can be compared with the clock. After the clock was set forward or
// the machine slept, all leases seem to have run out. Settled returns false for one Lease then,
// until the workers have renewed their leases.
func (w *Watch) Settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, elapsed := w.Now().Round(0), w.Elapsed()
	if w.looked && now.Sub(w.now)-(elapsed-w.elapsed) > maxStep {
		w.settled = elapsed + lipsync.Lease
	}
	w.looked, w.now, w.elapsed = true, now, elapsed
	return elapsed >= w.settled
}
