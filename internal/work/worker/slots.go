package worker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of the attempts that wait for a server of their client. They need no processor, so others get their slots.
const (
	grace      = 2 * time.Second // for which an attempt waits in its slot; most servers are quicker
	asideOfOne = 4               // from so many on, no other request of the account is claimed
	mostAside  = 64              // of all accounts; others wait in their slots, so that files and connections are bounded
)

// slots are the slots of a process in which attempts work. Accounts take turns, and so do claims, whose accounts are not known yet.
type slots struct {
	mu      sync.Mutex
	n       int
	held    map[*slot]time.Time // since when
	aside   map[string]int      // attempts without a slot, by account
	waiting []*slot             // those who came first are first
	turns   int
	last    map[string]int // the last turn of each account that has attempts
}

// slot is the right of an attempt to work. Its methods may be called for nil: the worker does one request at a time.
type slot struct {
	of      *slots
	account string        // "" while a request is claimed
	taken   chan struct{} // closed when it is held again
	waits   bool          // for a server
	left    time.Time     // when others got it; zero if it is held
	away    time.Duration // for which others had it
}

func newSlots(n int) *slots {
	return &slots{n: n, held: map[*slot]time.Time{}, aside: map[string]int{}, last: map[string]int{}}
}

// take waits for a slot for a claim.
func (p *slots) take(ctx context.Context) (*slot, error) {
	free := &slot{of: p}
	return free, free.await(ctx)
}

// await waits until the slot is held, or ctx ends.
func (p *slot) await(ctx context.Context) error {
	p.of.mu.Lock()
	p.taken = make(chan struct{})
	p.of.waiting = append(p.of.waiting, p)
	p.of.serve()
	p.of.mu.Unlock()
	select {
	case <-p.taken:
		return nil
	case <-ctx.Done():
		p.close()
		return ctx.Err()
	}
}

// serve gives free slots to those whose accounts had no turn for longest.
func (p *slots) serve() {
	for len(p.held) < p.n && len(p.waiting) > 0 {
		next := slices.MinFunc(p.waiting, func(a, b *slot) int { return p.last[a.account] - p.last[b.account] })
		p.waiting = slices.DeleteFunc(p.waiting, func(w *slot) bool { return w == next })
		next.back()
		p.hold(next)
		close(next.taken)
	}
}

func (p *slots) hold(by *slot) {
	p.turns++
	p.held[by], p.last[by.account] = time.Now(), p.turns
}

// give gives the slot to the account whose request was claimed.
func (p *slot) give(account string) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.account = account
	p.of.hold(p)
}

// wait gives the slot to others if the attempt waits for a server for longer than grace, until enter.
func (p *slot) wait() {
	if p == nil {
		return
	}
	p.of.mu.Lock()
	p.waits = true
	p.of.mu.Unlock()
	time.AfterFunc(grace, p.leave)
}

func (p *slot) leave() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	all := 0
	for _, n := range p.of.aside {
		all += n
	}
	if _, held := p.of.held[p]; !held || !p.waits {
		return
	}
	if all >= mostAside && p.of.ready() == 0 {
		time.AfterFunc(grace, p.leave)
		return
	}
	p.left = time.Now()
	p.of.aside[p.account]++
	delete(p.of.held, p)
	p.of.serve()
}

// enter waits for the slot if others got it.
func (p *slot) enter(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.of.mu.Lock()
	p.waits = false
	_, held := p.of.held[p]
	p.of.mu.Unlock()
	if held {
		return nil
	}
	return p.await(ctx)
}

// back notes that the attempt isn't without a slot any more.
func (p *slot) back() {
	if p.left.IsZero() {
		return
	}
	p.away, p.left = p.away+time.Since(p.left), time.Time{}
	if p.of.aside[p.account]--; p.of.aside[p.account] == 0 {
		delete(p.of.aside, p.account)
	}
}

// apart returns for how long the attempt was without the slot.
func (p *slot) apart() time.Duration {
	if p == nil {
		return 0
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.left.IsZero() {
		return p.away
	}
	return p.away + time.Since(p.left)
}

// close gives the slot up.
func (p *slot) close() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.back()
	p.waits = false
	delete(p.of.held, p)
	p.of.waiting = slices.DeleteFunc(p.of.waiting, func(w *slot) bool { return w == p })
	p.of.forget(p.account)
	p.of.serve()
}

// forget forgets the turn of an account without attempts. The next one gets a turn before it waits.
func (p *slots) forget(account string) {
	for other := range p.held {
		if other.account == account {
			return
		}
	}
	if account != "" && p.aside[account] == 0 {
		delete(p.last, account)
	}
}

// full returns the accounts of which as many attempts are without a slot as may be.
func (p *slots) full() (accounts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for account, n := range p.aside {
		if n >= asideOfOne {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// working returns since when each slot is held, and how many attempts wait to get theirs back.
func (p *slots) working() (since []time.Time, ready int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for by, at := range p.held {
		if by.account != "" {
			since = append(since, at)
		}
	}
	return since, p.ready()
}

// ready returns how many attempts wait to get their slots back.
func (p *slots) ready() (n int) {
	for _, by := range p.waiting {
		if by.account != "" {
			n++
		}
	}
	return n
}
