package service

import (
	"math"
	"time"

	"lipsync/internal/domain/lipsync"
)

// need is what decides how many workers start: the waiting requests, and the workers of both pools.
type need struct {
	requests lipsync.Waiting
	mean     time.Duration // mean time that a worker needs for a request
	again    bool          // running workers didn't take small requests soon
	late     bool          // running workers do not count, and calls didn't do the small requests
	runners  staff         // of the Pool
	calls    staff         // of the SmallPool
	steady   int           // calls that have worked for minutes
}

// staff has the numbers of the workers of a pool: those that are starting and running, and the most that there may be.
type staff struct{ waiting, running, most int }

func (s staff) free() int { return max(0, s.most-s.waiting-s.running) }

// runnersForCall is the number of runners that do as much as a call: these have 4 processors, and a call 1.7.
const runnersForCall = .6

// starts returns how many workers of each pool to start. Each small request that no running worker takes soon gets a call. Large ones need
// runners, and so do small ones that all calls together don't do in the time that a runner takes to start.
func (n need) starts() (calls, runners int) {
	left := n.requests.Small
	if n.calls.most > 0 {
		soon := n.soon(n.runners.running + n.calls.running)
		calls = min(max(0, min(left, left+n.requests.Large-soon)-n.calls.waiting), n.calls.free())
		if !n.late {
			left = max(0, left-int(float64(n.calls.waiting+n.calls.running+calls)*n.part()/n.mean.Seconds()))
		}
	}
	runners = max(n.capacity().lacks(n.requests.Large+left), int(float64(n.steady)*runnersForCall)-n.runners.waiting)
	return calls, min(runners, n.runners.free())
}

// soon returns how many requests running workers take within callWait.
func (n need) soon(running int) int {
	if n.late || n.again {
		return 0
	}
	return int(float64(running) * callWait.Seconds() / n.mean.Seconds())
}

// most returns the number of requests of a class that keep all workers busy for the time that a runner takes to start.
func (n need) most() int {
	c := n.capacity()
	return int(math.Ceil((c.has + float64(n.runners.free()+n.calls.most)*c.part) / c.mean))
}

// part is the time in seconds that a new runner spends on requests that wait now: see capacity.
func (n need) part() float64 { return n.capacity().part }

// capacity returns that of the runners.
func (n need) capacity() capacity {
	if n.late {
		return newCapacity(n.runners.waiting, 0, n.mean)
	}
	return newCapacity(n.runners.waiting, n.runners.running, n.mean)
}

// capacity tells how much time the Pool's workers have for waiting requests, in seconds.
type capacity struct {
	mean float64 // mean time that a worker needs for a request
	// part is the time that a new worker spends on requests that wait now: as long as its start
	// took, or one request. A start therefore at most doubles the cost of a burst, and the burst is
	// done about that time after the start.
	part float64
	has  float64 // total time of all workers; a running worker has mayWait
}

// newCapacity returns the capacity of the workers that are starting (waiting) and running.
func newCapacity(waiting, running int, mean time.Duration) capacity {
	c := capacity{mean: mean.Seconds(), part: max(mean, StartTime).Seconds()}
	c.has = float64(waiting)*c.part + float64(running)*mayWait.Seconds()
	return c
}

// lacks returns the number of workers to start for the waiting requests.
func (c capacity) lacks(requests int) int {
	return max(0, int(math.Ceil((float64(requests)*c.mean-c.has)/c.part)))
}
