package lipsync

import "time"

// Watcher is told what happens, for metrics. Its methods are quick, and safe
// for concurrent use. What happened just before a process ended may go untold.
type Watcher interface {
	// Created tells of a new request.
	Created(r Request)
	// Started tells of a request's first claim.
	Started(r Request)
	// Finished tells of a request that became final.
	Finished(r Request)
	// PutOff tells of an attempt that the failure ended, and after which the
	// request is tried again.
	PutOff(r Request, f Failure)
	// Waiting tells, once a sweep, how long the request has waited for a worker
	// that has waited longest, since its creation or the end of a delay; 0 if none
	// waits.
	Waiting(oldest time.Duration)
	// Unreachable tells, once a sweep, at how many hosts of media the requests wait that
	// couldn't reach one, at least: so many have no host in common. One host that doesn't
	// answer is 1, however many requests name it.
	Unreachable(hosts int)
}

// watcher returns who is told.
func (s *Service) watcher() Watcher {
	if s.Watcher == nil {
		return nobody{}
	}
	return s.Watcher
}

// nobody is a Watcher that doesn't listen.
type nobody struct{}

func (nobody) Created(Request)         {}
func (nobody) Started(Request)         {}
func (nobody) Finished(Request)        {}
func (nobody) PutOff(Request, Failure) {}
func (nobody) Waiting(time.Duration)   {}
func (nobody) Unreachable(int)         {}
