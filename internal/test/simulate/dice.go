package simulate

import (
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// dice draws random values from one seed. It is safe for concurrent use.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

// newDice returns the random values for one part of the simulation.
func newDice(seed, part uint64) *dice { return &dice{r: rand.New(rand.NewPCG(seed, part))} }

func (d *dice) float() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Float64()
}

// happens reports whether an event with the probability happens.
func (d *dice) happens(probability float64) bool { return probability > 0 && d.float() < probability }

// between draws a duration between low and high.
func (d *dice) between(low, high time.Duration) time.Duration {
	return low + time.Duration(d.float()*float64(high-low))
}

// until draws the time until the first of some events. They happen at random times, hourly times an
// hour on average. The time is a year at most.
func (d *dice) until(hourly float64) time.Duration {
	const year = 365 * 24 * time.Hour
	if hourly <= 0 {
		return year
	}
	return time.Duration(min(-math.Log(1-d.float())/hourly*float64(time.Hour), float64(year)))
}

// count draws a number with the mean, by a Poisson distribution.
func (d *dice) count(mean float64) (n int) {
	for left := mean; left > 0; left -= 500 { // exp(-500) is not 0 yet
		limit, product := math.Exp(-min(left, 500)), d.float()
		for ; product > limit; n++ {
			product *= d.float()
		}
	}
	return n
}

var _ io.Reader = (*dice)(nil)

func (d *dice) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range p {
		p[i] = byte(d.r.Uint32())
	}
	return len(p), nil
}

// id returns a random UUID.
func (d *dice) id() string { return uuid.Must(uuid.NewRandomFromReader(d)).String() }
