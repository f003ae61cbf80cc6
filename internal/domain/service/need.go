package service

import (
	"math"
	"time"

	"lipsync/internal/domain/lipsync"
)

// need is what decides how many workers start: the waiting requests, and the workers of both pools.
type need struct {
	requests lipsync.Waiting
	means    lipsync.Means // times that a worker needs for a request
	again    bool          // running workers didn't take small requests soon
	late     bool          // running workers do not count, and small workers didn't do the small requests
	runners  staff         // of the Pool
	small    staff         // of the SmallPool
	steady   int           // small workers that have worked for minutes
}

// staff has the numbers of the workers of a pool: those that are starting and running, and the most that there may be.
type staff struct{ waiting, running, most int }

func (s staff) free() int { return max(0, s.most-s.waiting-s.running) }

// runnersForSmall is the number of runners that do as much as a small worker: these have 4 processors, and that 1.7.
const runnersForSmall = .6

// starts returns how many workers of each pool to start. Each small request that no running worker takes soon gets a small worker. Large ones need
// runners, and so do small ones that all small workers together don't do in the time that a runner takes to start.
func (n need) starts() (small, runners int) {
	left := n.requests.Small
	if n.small.most > 0 {
		soon := n.soon(n.runners.running + n.small.running)
		small = min(max(0, min(left, left+n.requests.Large-soon)-n.small.waiting), n.small.free())
		if !n.late {
			left = max(0, left-int(float64(n.small.waiting+n.small.running+small)*partOf(n.means.Small)/n.means.Small.Seconds()))
		}
	}
	runners = max(n.lacks(left, n.requests.Large), int(float64(n.steady)*runnersForSmall)-n.runners.waiting)
	return small, min(runners, n.runners.free())
}

// soon returns how many small requests running workers take within smallWait.
func (n need) soon(running int) int {
	if n.late || n.again {
		return 0
	}
	return int(float64(running) * smallWait.Seconds() / n.means.Small.Seconds())
}

// most returns a number of requests of each class that keep all workers busy for the time that a runner takes to start.
func (n need) most() int {
	most := 0.0
	for _, mean := range []time.Duration{n.means.Small, n.means.Large} {
		most = max(most, (float64(n.runners.waiting+n.runners.free()+n.small.most)*partOf(mean)+n.has())/mean.Seconds())
	}
	return int(math.Ceil(most))
}

// lacks returns the number of runners to start for waiting requests, of which small and large are the numbers by class. Starting them at most doubles
// the cost of a burst. About StartTime after they have started, the burst is done: see partOf.
func (n need) lacks(small, large int) int {
	work, runners := 0.0, 0.0 // seconds of work, and the runners to start if there were none
	add := func(requests int, mean time.Duration) {
		if seconds := float64(requests) * mean.Seconds(); seconds > 0 {
			work, runners = work+seconds, runners+seconds/partOf(mean)
		}
	}
	add(small, n.means.Small)
	add(large, n.means.Large)
	if work == 0 {
		return 0
	}
	return max(0, int(math.Ceil(runners*max(0, 1-n.has()/work)))-n.runners.waiting)
}

// has returns the time in seconds that running runners have for waiting requests: mayWait each, since they are busy.
func (n need) has() float64 {
	if n.late {
		return 0
	}
	return float64(n.runners.running) * mayWait.Seconds()
}

// partOf returns the time in seconds that a new runner spends on requests that wait now and take the mean time: as long as its start took, or one
// request.
func partOf(mean time.Duration) float64 { return max(mean, StartTime).Seconds() }
