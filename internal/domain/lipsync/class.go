package lipsync

import (
	"slices"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// Class says which workers on AWS do a request. On one machine every worker does any request.
type Class string

// The classes of requests.
const (
	Small  Class = ""       // a small worker, or a runner
	Large  Class = "large"  // only a runner
	Neural Class = "neural" // only a runner: one with a GPU, if there are such runners
)

// Classes returns all classes.
func Classes() []Class { return []Class{Small, Large, Neural} }

// Duty says which classes of requests a worker does.
type Duty string

// The duties.
const (
	DoesAll    Duty = ""
	DoesSmall  Duty = "small"  // only Small: a small worker
	DoesPlain  Duty = "plain"  // all but Neural: a runner of a stack that also has runners with a GPU
	DoesNeural Duty = "neural" // only Neural: a runner with a GPU
)

// Duties returns all duties.
func Duties() []Duty { return []Duty{DoesAll, DoesSmall, DoesPlain, DoesNeural} }

// Does reports whether workers with the duty do requests of the class.
func (d Duty) Does(c Class) bool { return slices.Contains(d.Classes(), c) }

// Classes returns the classes of the requests that workers with the duty do.
func (d Duty) Classes() []Class {
	switch d {
	case DoesSmall:
		return []Class{Small}
	case DoesPlain:
		return []Class{Small, Large}
	case DoesNeural:
		return []Class{Neural}
	case DoesAll:
		return Classes()
	default:
		return nil
	}
}

// AtOnce returns how many requests a worker of a pool with the duty does at once. With a GPU, four at once take 55 to 76 % of the time of one
// after the other, measured with 16 cores, since each needs the processor for a part of its time.
func (d Duty) AtOnce() int {
	if d == DoesNeural {
		return 4
	}
	return 1
}

// MostHeld returns the largest number of requests that so many workers of each pool do at a time.
func MostHeld(workers, small, neural int) int { return workers + small + neural*DoesNeural.AtOnce() }

const (
	// MostSmallBytes is the largest size of all inputs of a small request, in bytes, as far as it is known. It is fetched in seconds, and
	// fits into a function's /tmp beside the frames that are kept.
	MostSmallBytes = 256 << 20
	// mostSmallWork is the largest number of pixels that a small request analyses and paints, in thousands: 8 minutes of 720p at 25 frames a
	// second, in both passes. That takes 260 s of processor time, and a function of 3008 MB has 1.7 processors: 2.5 of its 15
	// minutes. So media that take five times as long as usual still fit.
	mostSmallWork = 2 * 8 * 60 * 25 * 1280 * 720 / 1000
)

// ClassOf returns the class of a new request with inputs of the sizes, in bytes. A size is 0 if it is unknown; such an input counts as small
// until a worker has it. A request without an engine, such as an analysis, needs no network either.
func ClassOf(r Request, sizes ...int64) Class {
	var all int64
	for _, size := range sizes {
		all += size
	}
	switch {
	case order.NeedsNetwork(r.Engine):
		return Neural
	case all > MostSmallBytes:
		return Large
	default:
		return Small
	}
}

// ClassOfWork returns the class of a request that analyses and paints so many thousands of pixels.
func ClassOfWork(size int64) Class {
	if size > mostSmallWork {
		return Large
	}
	return Small
}

// Enlarged returns the request after its worker, which does only small ones, found it too large and gave it back: the attempt does not count,
// and runners do it. It returns Conflict if the lease is lost, or if the request isn't small.
func (r Request) Enlarged(token string) (Request, error) {
	r, err := r.Released(token)
	if err == nil && !r.enlarge() {
		return Request{}, failure.New(failure.Conflict, "request is not small")
	}
	return r, err
}

// enlarge makes a small request Large. It reports whether the request was small; others stay as they are, since the same workers do them again.
func (r *Request) enlarge() bool {
	if r.Class != Small {
		return false
	}
	r.Class = Large
	return true
}

// Waiting has numbers of requests that are claimable, by their class.
type Waiting map[Class]int

// Means has the mean times for which workers hold requests, by their class. One that isn't known is 0.
type Means map[Class]time.Duration

// Stint is the time for which a worker held a request, done or not.
type Stint struct {
	Class Class // of the request
	Took  time.Duration
	Duty  Duty // of the worker
}

// Choice says which requests a claim chooses from.
type Choice struct {
	Duty   Duty     // only those that workers with the duty do
	Except []string // none of these accounts
}
