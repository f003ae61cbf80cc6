// Package slots bounds how many calls are open at a time.
package slots

import (
	"context"
	"sync"
	"time"
)

// Slots bounds how many calls are open at a time: those of each key, and those of all.
type Slots struct {
	ofKey int
	all   chan struct{} // nil: any number
	wait  time.Duration

	mu   sync.Mutex
	keys map[string]*keySlots
}

// keySlots has the slots of one key.
type keySlots struct {
	taken chan struct{}
	calls int // that have a slot or wait for one
}

// New returns slots of which each key may have some, and all keys together some, 0 for any number. A call waits for one for the time.
func New(ofKey, ofAll int, wait time.Duration) *Slots {
	s := &Slots{ofKey: ofKey, wait: wait, keys: make(map[string]*keySlots)}
	if ofAll > 0 {
		s.all = make(chan struct{}, ofAll)
	}
	return s
}

// Take waits for a slot of the key. leave gives it back. ok is false if there was none in time.
func (s *Slots) Take(ctx context.Context, key string) (leave func(), ok bool) {
	s.mu.Lock()
	k := s.keys[key]
	if k == nil {
		k = &keySlots{taken: make(chan struct{}, s.ofKey)}
		s.keys[key] = k
	}
	k.calls++
	s.mu.Unlock()
	end := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if k.calls--; k.calls == 0 {
			delete(s.keys, key)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	if !take(ctx, k.taken) {
		end()
		return nil, false
	}
	ofKey := func() { <-k.taken; end() }
	if s.all == nil {
		return ofKey, true
	}
	if !take(ctx, s.all) {
		ofKey()
		return nil, false
	}
	return func() { <-s.all; ofKey() }, true
}

// take puts a slot into those that are taken. It reports false if there is no room before ctx ends.
func take(ctx context.Context, taken chan<- struct{}) bool {
	select {
	case taken <- struct{}{}:
		return true
	default:
	}
	select {
	case taken <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
