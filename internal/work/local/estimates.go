package local

import (
	"slices"
	"sync"

	"lipsync/internal/domain/lipsync"
)

// These bound the estimates that are done besides those of workers. Most of the time of one is spent on waiting for the servers of its URLs, and
// one of them may answer slowly. So no account takes all.
const (
	EstimatesAtOnce  = 8
	EstimatesOfOne   = 2   // at once, of one account
	estimatesWaiting = 100 // a worker does those beyond that
	waitingOfOne     = 20  // of one account
)

// estimates is a queue of estimates that are done while all workers may be busy.
type estimates struct {
	wake chan struct{} // gets a value for each estimate that is added, and holds EstimatesAtOnce of them

	mu      sync.Mutex
	waiting []lipsync.Request // the oldest first
	running map[string]int    // by account
}

func newEstimates() *estimates {
	return &estimates{wake: make(chan struct{}, EstimatesAtOnce), running: map[string]int{}}
}

// add adds an estimate, unless too many wait.
func (e *estimates) add(r lipsync.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	own := 0
	for _, other := range e.waiting {
		if other.ID == r.ID { // a sweep tells of it again
			return
		}
		if other.Account == r.Account {
			own++
		}
	}
	if own >= waitingOfOne || len(e.waiting) >= estimatesWaiting {
		return
	}
	e.waiting = append(e.waiting, r)
	wake(e.wake)
}

// take removes the oldest estimate whose account may have one more running, and counts it as running until done. ok is false if there is none.
func (e *estimates) take() (r lipsync.Request, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, r := range e.waiting {
		if e.running[r.Account] < EstimatesOfOne {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			e.running[r.Account]++
			return r, true
		}
	}
	return lipsync.Request{}, false
}

// done ends what take began.
func (e *estimates) done(r lipsync.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running[r.Account]--; e.running[r.Account] == 0 {
		delete(e.running, r.Account)
	}
}
