package lipsync

import "time"

// RecentWork is the number of requests from which on a store halves the sums of a Speed, so that newer
// requests count more.
const RecentWork = 200

// Measured has the Speed of each engine and class.
type Measured map[EngineClass]Speed

// EngineClass stands for the requests of one class with one engine.
type EngineClass struct {
	Engine string
	Class  Class
}

// Sum returns the sums of those that f chooses.
func (m Measured) Sum(f func(EngineClass) bool) (all Speed) {
	for of, s := range m {
		if f(of) {
			all = all.Plus(s)
		}
	}
	return all
}

// Speed tells how long workers take for requests of one engine and class: sums over its recent completed requests.
// The size of a request is the number of pixels of the frames that it has analysed and painted, in thousands.
type Speed struct {
	Requests int64
	Size     int64         // sum of the sizes
	Took     time.Duration // sum of the times from a claim to the end, with fetching and storing
	Inverse  int64         // sum of 10⁹ ÷ size
	Pace     int64         // sum of nanoseconds ÷ size
}

// NewSpeed returns the Speed of one request.
func NewSpeed(size int64, took time.Duration) Speed {
	size = max(size, 1)
	return Speed{Requests: 1, Size: size, Took: took, Inverse: 1e9 / size, Pace: int64(took) / size}
}

// Plus returns the sums of both.
func (s Speed) Plus(o Speed) Speed {
	return Speed{s.Requests + o.Requests, s.Size + o.Size, s.Took + o.Took, s.Inverse + o.Inverse, s.Pace + o.Pace}
}

// Mean returns the mean time of a request, 0 if there was none.
func (s Speed) Mean() time.Duration {
	if s.Requests == 0 {
		return 0
	}
	return s.Took / time.Duration(s.Requests)
}

// leastSpread is the ratio of the arithmetic to the harmonic mean of sizes from which on they differ enough to
// tell the time that each request takes from the time that each pixel takes. Two sizes with that ratio differ
// by a factor of 1.9.
const leastSpread = 1.1

// Time returns the expected time of a request of the size, 0 if no request was measured. It fits a time for
// each request and one for each pixel to the measured times, by least squares with weights of 1 ÷ size.
// If all sizes are alike, the time is proportional to the size.
func (s Speed) Time(size int64) time.Duration {
	if s.Requests == 0 {
		return 0
	}
	n, x, t := float64(s.Requests), float64(s.Size), s.Took.Seconds()
	inverse, pace := float64(s.Inverse)/1e9, float64(s.Pace)/1e9
	fixed, each := 0.0, t/x
	if det := inverse*x - n*n; inverse*x >= leastSpread*n*n {
		fixed, each = (pace*x-n*t)/det, (inverse*t-n*pace)/det
		switch {
		case fixed < 0:
			fixed, each = 0, t/x
		case each < 0:
			fixed, each = t/n, 0
		}
	}
	return time.Duration((fixed + each*float64(size)) * float64(time.Second))
}
