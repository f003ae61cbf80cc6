package service

import (
	"math"
	"time"

	"lipsync/internal/domain/lipsync"
)

// need is what decides how many workers start: the waiting requests, and the workers of all pools.
type need struct {
	requests lipsync.Waiting
	old      lipsync.Waiting // those of them that have waited for smallStart
	means    lipsync.Means   // times that a worker needs for a request, or with a GPU for one of those that it does at once
	late     bool            // running workers do not count, and small workers didn't do the small requests
	runners  staff           // of the Pool
	small    staff           // of the SmallPool
	neural   staff           // of the NeuralPool
	steady   int             // small workers that have worked for minutes
}

// staff has the numbers of the workers of a pool: those that are starting and running, and the most that there may be.
type staff struct{ waiting, running, most int }

func (s staff) all() int { return s.waiting + s.running }

func (s staff) free() int { return max(0, s.most-s.all()) }

// unseen reports whether no request waits and there is no worker that could have taken one: the store may not show yet the request for which it was
// counted.
func (n need) unseen() bool {
	return n.requests[lipsync.Small]+n.requests[lipsync.Large]+n.requests[lipsync.Neural] == 0 && n.runners.all()+n.small.all()+n.neural.all() == 0
}

// starting has the numbers of workers of each pool to start.
type starting struct{ runners, small, neural int }

// runnersForSmall is the number of runners that do as much as a small worker: these have 4 processors, and that 1.7.
const runnersForSmall = .6

// starts returns how many workers of each pool to start. Each small request that running workers don't take soon, or didn't, gets a small worker. Large ones need
// runners, and so do small ones that all small workers together don't do in the time that a runner takes to start.
func (n need) starts() (s starting) {
	left := lipsync.Waiting{lipsync.Small: n.requests[lipsync.Small], lipsync.Large: n.requests[lipsync.Large]} // for runners
	if n.neural.most > 0 {
		s.neural = min(n.lacks(n.neural, lipsync.Waiting{lipsync.Neural: n.requests[lipsync.Neural]}), n.neural.free())
	} else {
		left[lipsync.Neural] = n.requests[lipsync.Neural]
	}
	if n.small.most > 0 {
		small, others := left[lipsync.Small], left[lipsync.Large]+left[lipsync.Neural]
		s.small = min(max(0, max(n.old[lipsync.Small], min(small, small+others-n.soon(n.runners.running+n.small.running)))-n.small.waiting), n.small.free())
		if mean := n.means[lipsync.Small]; !n.late {
			left[lipsync.Small] = max(0, small-int(float64(n.small.waiting+n.small.running+s.small)*partOf(mean)/mean.Seconds()))
		}
	}
	s.runners = min(max(n.lacks(n.runners, left), int(float64(n.steady)*runnersForSmall)-n.runners.waiting), n.runners.free())
	return s
}

// soon returns how many small requests running workers take while a small worker starts.
func (n need) soon(running int) int {
	if n.late {
		return 0
	}
	return int(float64(running) * smallStart.Seconds() / n.means[lipsync.Small].Seconds())
}

// most returns a number of requests of each class that keep all workers busy for the time that a runner takes to start.
func (n need) most() int {
	most := 0.0
	for _, of := range []staff{n.runners, n.neural} {
		for _, mean := range n.means {
			most = max(most, (float64(of.waiting+of.free()+n.small.most)*partOf(mean)+n.has(of))/mean.Seconds())
		}
	}
	return int(math.Ceil(most))
}

// lacks returns the number of workers of a staff to start for waiting requests. Starting them at most doubles
// the cost of a burst. About StartTime after they have started, the burst is done: see partOf.
func (n need) lacks(of staff, requests lipsync.Waiting) int {
	work, workers := 0.0, 0.0 // seconds of work, and the workers to start if there were none
	for class, number := range requests {
		mean := n.means[class]
		if seconds := float64(number) * mean.Seconds(); seconds > 0 {
			work, workers = work+seconds, workers+seconds/partOf(mean)
		}
	}
	if work == 0 {
		return 0
	}
	return max(0, int(math.Ceil(workers*max(0, 1-n.has(of)/work)))-of.waiting)
}

// has returns the time in seconds that running workers of a staff have for waiting requests: mayWait each, since they are busy.
func (n need) has(of staff) float64 {
	if n.late {
		return 0
	}
	return float64(of.running) * mayWait.Seconds()
}

// partOf returns the time in seconds that a new runner spends on requests that wait now and take the mean time: as long as its start took, or one
// request.
func partOf(mean time.Duration) float64 { return max(mean, StartTime).Seconds() }
