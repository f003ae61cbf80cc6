package simulate

import (
	"context"
	"math"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

// fleet models a job queue of Batch and its Spot instances. An
// instance is paid for from its launch to its end.
type fleet struct {
	Fleet
	dice *dice
	work func(context.Context, *process) // of one worker

	mu                   sync.Mutex
	waiting              int // jobs without an instance
	placed               int // jobs on an instance that do not run yet
	running              int
	instances            map[*instance]bool
	ended                bool
	calls                [2]int64 // of Count and Start
	tokens               float64  // for calls of SubmitJob
	refilled             time.Time
	submits, mostSubmits int // in this second, and the most in any
	second               int64
	throttled            int64
	started              int64 // number of jobs
	launched             int64
	reclaimed            int64
	killed               int64
	paid                 time.Duration
	most                 int // instances at one time
	paidBy               hours
}

var _ lipsync.Pool = (*fleet)(nil)

func (f *fleet) Count(context.Context) (waiting, running int, err error) {
	time.Sleep(2 * f.Call) // two of the lists one after the other
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[0] += 5 // one for each status of jobs
	return f.waiting + f.placed, f.running, nil
}

func (f *fleet) Start(_ context.Context, n int) error {
	time.Sleep(f.Call)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[1]++
	now := time.Now()
	f.tokens = min(f.Submits, f.tokens+now.Sub(f.refilled).Seconds()*f.Submits)
	f.refilled = now
	if f.tokens < 1 {
		f.throttled++
		return errThrottled
	}
	f.tokens--
	if f.second != now.Unix() {
		f.second, f.submits = now.Unix(), 0
	}
	f.submits++
	f.mostSubmits = max(f.mostSubmits, f.submits)
	f.waiting += n
	f.started += int64(n)
	return nil
}

// add adds an instance, which first has to boot.
func (f *fleet) add() *instance {
	i := &instance{launched: time.Now(), jobs: make(map[*process]bool)}
	f.instances[i] = true
	f.launched++
	f.most = max(f.most, len(f.instances))
	time.AfterFunc(f.dice.until(f.Reclaims), func() { f.reclaim(i) })
	return i
}

// counts returns the number of instances, and of workers that run.
func (f *fleet) counts() (machines, workers int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.instances), f.running
}

// run assigns jobs and launches instances until ctx ends. Then it ends all instances.
func (f *fleet) run(ctx context.Context) {
	for range f.Ready {
		f.mu.Lock()
		i := f.add()
		f.mu.Unlock()
		f.boot(ctx, i)
	}
	for ctx.Err() == nil {
		f.mu.Lock()
		f.place(ctx)
		f.launch(ctx)
		f.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(f.Evaluate):
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for i := range f.instances {
		f.terminate(i)
	}
}

// place assigns waiting jobs to instances with free slots.
func (f *fleet) place(ctx context.Context) {
	for i := range f.instances {
		for f.waiting > 0 && i.ready && !i.noticed && len(i.jobs) < f.Slots {
			f.waiting--
			f.begin(ctx, i)
		}
	}
}

// launch starts instances for the jobs that do not fit on the existing ones.
func (f *fleet) launch(ctx context.Context) {
	coming := 0
	for i := range f.instances {
		if !i.ready {
			coming += f.Slots
		}
	}
	lack := int(math.Ceil(float64(f.waiting-coming) / float64(f.Slots)))
	for range min(lack, f.Instances-len(f.instances)) {
		i := f.add()
		time.AfterFunc(f.dice.between(f.StartMin, f.StartMax), func() { f.boot(ctx, i) })
	}
}
