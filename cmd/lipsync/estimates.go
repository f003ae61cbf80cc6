package main

import (
	"slices"
	"sync"

	"lipsync/internal/domain/lipsync"
)

// These bound the estimates that are done besides those of workers. Most of the time of one is spent on waiting for the servers of its URLs, and
// one of them may answer slowly. So no account takes all.
const (
	estimatesAtOnce  = 8
	estimatesOfOne   = 2   // at once, of one account
	estimatesWaiting = 100 // a worker does those beyond that
	waitingOfOne     = 20  // of one account
)

// estimateQueue is a queue of estimates that are done while all workers may be busy.
type estimateQueue struct {
	wake chan struct{} // gets a value for each estimate that is added, and holds estimatesAtOnce of them

	mu      sync.Mutex
	waiting []lipsync.Request // the oldest first
	running map[string]int    // by account
}

func newEstimates() *estimateQueue {
	return &estimateQueue{wake: make(chan struct{}, estimatesAtOnce), running: map[string]int{}}
}

// add adds an estimate, unless too many wait.
func (e *estimateQueue) add(r lipsync.Request) {
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
	select {
	case e.wake <- struct{}{}:
	default: // enough wake-ups wait
	}
}

// take removes the oldest estimate whose account may have one more running, and counts it as running until done. ok is false if there is none.
func (e *estimateQueue) take() (r lipsync.Request, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, r := range e.waiting {
		if e.running[r.Account] < estimatesOfOne {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			e.running[r.Account]++
			return r, true
		}
	}
	return lipsync.Request{}, false
}

// done ends what take began.
func (e *estimateQueue) done(r lipsync.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running[r.Account]--; e.running[r.Account] == 0 {
		delete(e.running, r.Account)
	}
}
