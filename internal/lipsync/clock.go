package lipsync

import (
	"sync"
	"time"
)

// maxStep is by how much a clock may get ahead between two looks at it without being set
// forward: more than what brings it in step with others takes at a time.
const maxStep = 5 * time.Second

// ClockWatch notices when the clock is set forward. Its fields are set once, before use.
type ClockWatch struct {
	Now     func() time.Time
	Elapsed func() time.Duration // for how long the process runs, whatever is done to the clock

	mu      sync.Mutex
	looked  bool
	now     time.Time     // at the last look
	elapsed time.Duration // at the last look
	settled time.Duration // from when on leases can be compared with the clock
}

// Settled reports whether leases can be compared with the clock. They all seem to have run
// out after it was set forward, or after the machine slept, until those that hold requests
// have renewed them: for a Lease.
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
