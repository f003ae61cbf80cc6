package batch

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// planner is a network on a GPU: it plans for each change of the number of items in a run, and then runs for a time that hardly
// depends on that number. Both times were measured on an H200 with a network of Wav2Lip.
type planner struct {
	mu    sync.Mutex
	last  int // items of the last run
	plans int
	runs  int
}

const planTime, runTime = 500 * time.Millisecond, 3 * time.Millisecond

func (p *planner) run(_ context.Context, c *goBinding) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs++; p.last != len(c.input) {
		p.plans++
		time.Sleep(planTime)
	}
	p.last = len(c.input)
	time.Sleep(runTime)
	copy(c.output, c.input)
	return nil
}

// job passes items through the queue as a job does: each of its workers works for some time on an item, before and after the network.
// It returns the longest time that an item was in the queue.
func job(t *testing.T, q *Queue, random *rand.Rand, workers, items int) (longest time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	left := make(chan float32, items)
	for i := range items {
		left <- float32(i)
	}
	close(left)
	for range workers {
		random := rand.New(rand.NewPCG(random.Uint64(), 0))
		all.Go(func() {
			for x := range left {
				time.Sleep(time.Duration(random.IntN(4000)) * time.Microsecond)
				item, began := number(x), time.Now()
				if err := q.Do(t.Context(), item); err != nil || item.Outputs[0][0] != x {
					t.Errorf("item %g became %g, %v", x, item.Outputs[0][0], err)
				}
				mu.Lock()
				longest = max(longest, time.Since(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return longest
}

// TestShapesNeverChange runs 1 to 8 jobs at once, which begin at any time, through a network on a GPU. After New it must plan
// nothing, and a lone item must wait for one run at most before its own.
func TestShapesNeverChange(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random, p := rand.New(rand.NewPCG(seed, 1)), &planner{}
			q := start(t, Network{Most: 16, Padded: true}, p.run)
			if p.plans != 1 {
				t.Fatalf("seed %d: %d plans of New, want 1", seed, p.plans)
			}
			var all sync.WaitGroup
			for range 1 + random.IntN(8) {
				began, own := time.Duration(random.IntN(1000))*time.Millisecond, rand.New(rand.NewPCG(random.Uint64(), 0))
				all.Go(func() {
					time.Sleep(began)
					job(t, q, own, 1+own.IntN(32), 1+own.IntN(300))
				})
			}
			all.Wait()
			if p.plans != 1 {
				t.Errorf("seed %d: %d plans after New, want none", seed, p.plans-1)
			}
			if longest := job(t, q, random, 2, 50); longest > 2*runTime {
				t.Errorf("seed %d: one of two items waited %v, want two runs at most", seed, longest)
			}
		})
	}
}

// TestRateOnGPU measures a job of 750 items on a GPU, with runs that are filled up and with runs that aren't. Filled up it must be
// ten times as fast.
func TestRateOnGPU(t *testing.T) {
	took := map[bool]time.Duration{}
	for _, padded := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			q := start(t, Network{Most: 16, Padded: padded}, (&planner{}).run)
			began := time.Now()
			job(t, q, rand.New(rand.NewPCG(1, 1)), q.Together(), 750)
			took[padded] = time.Since(began)
		})
	}
	t.Logf("items a second: %.0f with changing shapes, %.0f with one", 750/took[false].Seconds(), 750/took[true].Seconds())
	if took[false] < 10*took[true] {
		t.Errorf("%v with changing shapes, %v with one: want a tenth", took[false], took[true])
	}
}
