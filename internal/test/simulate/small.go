package simulate

import (
	"context"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

// smallPool models the function of small requests. The store has the record of its invocations, as on AWS. A small worker is paid for
// from its start to its end, with the start of its environment.
type smallPool struct {
	*World
	dice *dice

	mu                       sync.Mutex
	idle                     []time.Time // when each idle environment became idle
	running, most            int
	started, cold, throttled int64
	lost                     int64 // those for which Lambda found no room in time
	vain                     int64 // those that found no request
	paid                     time.Duration
}

var _ lipsync.Pool = (*smallPool)(nil)

func (c *smallPool) Count(ctx context.Context) (waiting, running int, err error) {
	return c.store.Queue.CountSmall(ctx, time.Now())
}

func (c *smallPool) Start(ctx context.Context, n int) error {
	start, err := c.store.Queue.StartSmall(ctx, time.Now(), n)
	if err != nil {
		return err
	}
	time.Sleep(c.Small.Invoke * time.Duration((n+31)/32)) // 32 at a time
	for range n {
		go c.call(c.background, start)
	}
	return nil
}

// call makes one call, once Lambda has room for it.
func (c *smallPool) call(ctx context.Context, start string) {
	came := time.Now()
	cold, ok := c.begin()
	for ; !ok; cold, ok = c.begin() {
		if sleep(ctx, time.Second) != nil || time.Since(came) > time.Minute {
			c.mu.Lock()
			c.lost++
			c.mu.Unlock()
			return
		}
	}
	began := time.Now()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running--
		c.idle = append(c.idle, time.Now())
		c.paid += time.Since(began)
	}()
	pause := c.Small.Warm
	if cold {
		pause = c.dice.between(c.Small.ColdMin, c.Small.ColdMax)
	}
	if sleep(ctx, pause) != nil {
		return
	}
	c.note(c.store.Queue.BeginSmall(ctx, start))
	work, end := context.WithTimeout(ctx, callTime)
	defer end()
	begin, cancel := context.WithTimeout(work, callTime/2)
	defer cancel()
	if !c.stay(work, begin, &process{dead: make(chan struct{}), end: end}, lipsync.DoesSmall) {
		c.mu.Lock()
		c.vain++
		c.mu.Unlock()
	}
	c.note(c.store.Queue.EndSmall(context.WithoutCancel(ctx), start))
}

// callTime is the longest time of a call's work: the function's 15 minutes less 30 s.
const callTime = 15*time.Minute - 30*time.Second

// begin takes room for a call, and reports whether its environment has to start.
func (c *smallPool) begin() (cold, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running >= c.Small.Most {
		c.throttled++
		return false, false
	}
	c.running++
	c.started++
	c.most = max(c.most, c.running)
	for len(c.idle) > 0 && time.Since(c.idle[0]) > c.Small.Idle {
		c.idle = c.idle[1:]
	}
	if len(c.idle) == 0 {
		c.cold++
		return true, true
	}
	c.idle = c.idle[:len(c.idle)-1]
	return false, true
}
