// Package parallel works on all cores at once.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, on all cores, and waits. If do panics, so does Each, in the goroutine of its caller.
func Each(n int, do func(i int)) {
	Share(runtime.GOMAXPROCS(0), n, func(_, i int) { do(i) })
}

// Share calls do for i from 0 to n-1, by a number of workers at most, and waits. worker, from 0 on, tells which one calls: it makes one call
// after the other. If do panics, so does Share, in the goroutine of its caller, who is one of the workers.
func Share(workers, n int, do func(worker, i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			do(0, i)
		}
		return
	}
	var all struct {
		next     atomic.Int64
		working  sync.WaitGroup
		panicked atomic.Pointer[any]
	}
	work := func(worker int) {
		defer all.working.Done()
		defer func() {
			if p := recover(); p != nil {
				all.panicked.CompareAndSwap(nil, &p)
			}
		}()
		for i := int(all.next.Add(1)) - 1; i < n; i = int(all.next.Add(1)) - 1 {
			do(worker, i)
		}
	}
	all.working.Add(workers)
	for worker := 1; worker < workers; worker++ {
		go work(worker)
	}
	work(0)
	all.working.Wait()
	if p := all.panicked.Load(); p != nil {
		panic(*p)
	}
}
