package rest

import (
	"context"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

const (
	// bodiesOfKey is the number of calls with a body that a key may have open at a time, so that no client collects connections. Such a
	// call takes milliseconds, except for forms.
	bodiesOfKey = 16
	// placeWait is how long another call waits for a place, and after which a client may try again.
	placeWait = 5 * time.Second
)

// places bounds how many calls each key has open at a time.
type places struct {
	most int

	mu   sync.Mutex
	keys map[string]*keyPlaces
}

// keyPlaces has the places of one key.
type keyPlaces struct {
	taken chan struct{}
	calls int // that have a place or wait for one
}

func newPlaces(most int) *places { return &places{most: most, keys: make(map[string]*keyPlaces)} }

// take waits for a place of the caller's key. leave gives it back. ok is false if there was none in placeWait.
func (p *places) take(ctx context.Context, c lipsync.Caller) (leave func(), ok bool) {
	key := c.Account + "/" + c.KeyID
	p.mu.Lock()
	k := p.keys[key]
	if k == nil {
		k = &keyPlaces{taken: make(chan struct{}, p.most)}
		p.keys[key] = k
	}
	k.calls++
	p.mu.Unlock()
	end := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if k.calls--; k.calls == 0 {
			delete(p.keys, key)
		}
	}
	wait := time.NewTimer(placeWait)
	defer wait.Stop()
	select {
	case k.taken <- struct{}{}:
		return func() { <-k.taken; end() }, true
	case <-wait.C:
	case <-ctx.Done():
	}
	end()
	return nil, false
}
