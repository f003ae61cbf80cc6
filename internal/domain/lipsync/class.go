package lipsync

import (
	"time"

	"lipsync/internal/domain/order"
)

// Class says which workers on AWS do a request. On one machine every worker does any request.
type Class string

// The classes of requests.
const (
	Small Class = ""      // a small worker, or a runner
	Large Class = "large" // only a runner
)

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
	if order.NeedsNetwork(r.Engine) || all > MostSmallBytes {
		return Large
	}
	return Small
}

// ClassOfWork returns the class of a request that analyses and paints so many thousands of pixels.
func ClassOfWork(size int64) Class {
	if size > mostSmallWork {
		return Large
	}
	return Small
}

// Enlarged returns the request after its worker, which does only small ones, found it too large and gave it back: the attempt does not count,
// and runners do it. It returns Conflict if the lease is lost.
func (r Request) Enlarged(token string) (Request, error) {
	r, err := r.Released(token)
	r.Class = Large
	return r, err
}

// Waiting has numbers of requests that are claimable, by their class.
type Waiting struct{ Small, Large int }

// Means has the mean times for which workers hold requests, by their class. One that isn't known is 0.
type Means struct{ Small, Large time.Duration }

// Of returns the mean time of the class.
func (m Means) Of(c Class) time.Duration {
	if c == Large {
		return m.Large
	}
	return m.Small
}

// Stint is the time for which a worker held a request, done or not.
type Stint struct {
	Class Class // of the request
	Took  time.Duration
	Small bool // the worker does only small requests
}

// Choice says which requests a claim chooses from.
type Choice struct {
	Small  bool     // only those with the class Small
	Except []string // none of these accounts
}
