// Package parallel works on all cores at once.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, on all cores, and waits. If do panics, so does Each, in the goroutine of its caller.
func Each(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	var panicked atomic.Pointer[any]
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked.CompareAndSwap(nil, &p)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
}
