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
	// slotWait is how long another call waits for a slot, and after which a client may try again.
	slotWait = 5 * time.Second
)

// slots bounds how many calls each key has open at a time.
type slots struct {
	most int

	mu   sync.Mutex
	keys map[string]*keySlots
}

// keySlots has the slots of one key.
type keySlots struct {
	taken chan struct{}
	calls int // that have a slot or wait for one
}

func newSlots(most int) *slots { return &slots{most: most, keys: make(map[string]*keySlots)} }

// take waits for a slot of the caller's key. leave gives it back. ok is false if there was none in slotWait.
func (p *slots) take(ctx context.Context, c lipsync.Caller) (leave func(), ok bool) {
	key := c.Account + "/" + c.KeyID
	p.mu.Lock()
	k := p.keys[key]
	if k == nil {
		k = &keySlots{taken: make(chan struct{}, p.most)}
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
	wait := time.NewTimer(slotWait)
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
