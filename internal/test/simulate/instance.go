package simulate

import (
	"context"
	"sync"
	"time"
)

// instance is one machine.
type instance struct {
	launched time.Time
	ready    bool
	noticed  bool // it will be reclaimed, so no jobs begin on it
	jobs     map[*process]bool
	idle     *time.Timer
}

// process is a running job of Batch, with one worker.
type process struct {
	begin  context.Context // ends with the notice of a reclaim
	cancel context.CancelFunc
	dead   chan struct{} // closed when it is killed
	once   sync.Once
	end    func() // stops its work
}

// kill ends a process immediately: nothing that it does afterwards has an effect.
func (p *process) kill() {
	p.once.Do(func() { close(p.dead) })
	p.end()
}

func (p *process) killed() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

func (f *fleet) boot(ctx context.Context, i *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.instances[i] {
		return
	}
	i.ready = true
	i.idle = time.AfterFunc(f.Idle, func() { f.expire(i) })
	f.place(ctx)
}

// expire ends an instance that has had no job for long enough.
func (f *fleet) expire(i *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.instances[i] && len(i.jobs) == 0 {
		f.terminate(i)
	}
}

// terminate ends an instance. Its jobs must be dead.
func (f *fleet) terminate(i *instance) {
	if !f.instances[i] {
		return
	}
	delete(f.instances, i)
	if i.idle != nil {
		i.idle.Stop()
	}
	f.paid += time.Since(i.launched)
	f.paidBy.add(i.launched, time.Now())
}

// reclaim ends a Spot instance, two minutes after a notice. Batch starts its jobs again.
func (f *fleet) reclaim(i *instance) {
	f.mu.Lock()
	if !f.instances[i] || f.ended {
		f.mu.Unlock()
		return
	}
	i.noticed = true
	f.reclaimed++
	for p := range i.jobs {
		p.cancel()
	}
	f.mu.Unlock()
	time.AfterFunc(f.Notice, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for p := range i.jobs {
			p.kill()
			f.waiting++ // Batch retries jobs that ended with "Host EC2 … terminated"
		}
		f.terminate(i)
	})
}

// begin runs a job on the instance.
func (f *fleet) begin(ctx context.Context, i *instance) {
	work, end := context.WithCancel(ctx)
	begin, cancel := context.WithCancel(work)
	p := &process{begin: begin, cancel: cancel, dead: make(chan struct{}), end: end}
	i.jobs[p] = true
	i.idle.Stop()
	f.placed++
	go func() {
		time.Sleep(f.Container)
		f.mu.Lock()
		f.placed--
		f.running++
		f.mu.Unlock()
		crash := time.AfterFunc(f.dice.until(f.Kills), func() {
			f.mu.Lock()
			f.killed++
			f.mu.Unlock()
			p.kill()
		})
		f.work(work, p)
		crash.Stop()
		end()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running--
		delete(i.jobs, p)
		if len(i.jobs) == 0 && f.instances[i] {
			i.idle.Reset(f.Idle)
			f.place(ctx)
		}
	}()
}
