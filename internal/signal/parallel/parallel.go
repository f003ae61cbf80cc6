// Package parallel works on all cores at once.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, on all cores, and waits. If do panics, so does Each, in the goroutine of its caller.
func Each(n int, do func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers == 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var all struct {
		next     atomic.Int64
		working  sync.WaitGroup
		panicked atomic.Pointer[any]
	}
	work := func() {
		defer all.working.Done()
		defer func() {
			if p := recover(); p != nil {
				all.panicked.CompareAndSwap(nil, &p)
			}
		}()
		for i := int(all.next.Add(1)) - 1; i < n; i = int(all.next.Add(1)) - 1 {
			do(i)
		}
	}
	all.working.Add(workers)
	for k := range workers {
		if k == workers-1 { // the caller's goroutine is one of them
			work()
		} else {
			go work()
		}
	}
	all.working.Wait()
	if p := all.panicked.Load(); p != nil {
		panic(*p)
	}
}
