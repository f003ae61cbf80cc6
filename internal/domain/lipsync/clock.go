package lipsync

import (
	"sync"
	"time"
)

// maxStep is how far the clock may get ahead between two calls of Settled before it counts as set
// forward. It is more than one correction by time synchronisation.
const maxStep = 5 * time.Second

// ClockWatch notices when the clock is set forward. Its fields are set once, before use.
type ClockWatch struct {
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
func (w *ClockWatch) Settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, elapsed := w.Now().Round(0), w.Elapsed()
	if w.looked && now.Sub(w.now)-(elapsed-w.elapsed) > maxStep {
		w.settled = elapsed + Lease
	}
	w.looked, w.now, w.elapsed = true, now, elapsed
	return elapsed >= w.settled
}
