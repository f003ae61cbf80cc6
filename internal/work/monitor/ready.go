package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// answerTime is the time that a caller waits for a check.
	answerTime = 5 * time.Second
	// checkTime bounds a check. It is longer than answerTime, since a check is slow on a machine
	// that is busy with jobs.
	checkTime = 30 * time.Second
	// holdTime is the time for which a result is reused, so that frequent calls cost little.
	holdTime = 5 * time.Second
	// standTime bounds the age of a result that is given while the next check takes longer than
	// answerTime. The age counts from the beginning of the result's own check.
	standTime = time.Minute
)

// Check finds out whether something that the service needs works.
type Check struct {
	Name string
	// Run returns an error for operators if it does not work. If a run goes on after ctx has
	// ended, nothing waits for it any longer, but no second one begins at the same time.
	Run func(ctx context.Context) error
}

// readiness serves the results of the checks: with status 200 if all succeed, otherwise 503.
type readiness []*probe

func newReadiness(checks []Check) readiness {
	r := make(readiness, len(checks))
	for i, c := range checks {
		r[i] = &probe{Check: c}
	}
	return r
}

// report is the answer.
type report struct {
	Ready  bool              `json:"ready"`
	Checks map[string]result `json:"checks"`
}

// result is the result of a check.
type result struct {
	OK      bool    `json:"ok"`
	Seconds float64 `json:"seconds"` // duration
	Error   string  `json:"error,omitempty"`
}

var _ http.Handler = (*readiness)(nil)

func (r readiness) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	answer := report{Ready: true, Checks: make(map[string]result, len(r))}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, p := range r {
		all.Go(func() {
			found := p.result(request.Context())
			mu.Lock()
			defer mu.Unlock()
			answer.Checks[p.Name] = found
			answer.Ready = answer.Ready && found.OK
		})
	}
	all.Wait()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !answer.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer) // fails only if the caller has gone
}

// probe runs one check for all callers.
type probe struct {
	Check
	mu      sync.Mutex
	last    *outcome // nil before the first run
	earlier *outcome // the one before; nil before the second run
}

// outcome is one run of a check. The end and the error are set once done is closed.
type outcome struct {
	done         chan struct{}
	began, ended time.Time
	err          error
}

// result returns the result of the current run, of the last one if it is recent, or of a new one.
// If that run takes longer than answerTime, it returns the result of the run before for a while.
func (p *probe) result(ctx context.Context) result {
	o, earlier := p.latest()
	limit := time.NewTimer(time.Until(o.began.Add(answerTime)))
	defer limit.Stop()
	select {
	case <-o.done:
	case <-limit.C:
	case <-ctx.Done():
	}
	select {
	case <-o.done:
		return o.result()
	default:
	}
	if earlier != nil && time.Since(earlier.began) < standTime {
		return earlier.result()
	}
	took := time.Since(o.began)
	return result{Seconds: took.Seconds(), Error: fmt.Sprintf("no result after %s", took.Round(time.Second))}
}

// result returns the result of a run that has ended.
func (o *outcome) result() result {
	r := result{OK: o.err == nil, Seconds: o.ended.Sub(o.began).Seconds()}
	if o.err != nil {
		r.Error = o.err.Error()
	}
	return r
}

// latest returns the run to wait for and the one before it, if any, which has ended.
func (p *probe) latest() (o, earlier *outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.last; o != nil {
		select {
		case <-o.done:
			if time.Since(o.ended) < holdTime {
				return o, p.earlier
			}
		default:
			return o, p.earlier
		}
	}
	p.last, p.earlier = &outcome{done: make(chan struct{}), began: time.Now()}, p.last
	go p.run(p.last)
	return p.last, p.earlier
}

// run runs the check. It is independent of the caller, since others may wait for it too.
func (p *probe) run(o *outcome) {
	defer close(o.done)
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	o.err = errors.New("the check panicked")
	defer func() { o.ended = time.Now(); _ = recover() }()
	o.err = p.Run(ctx)
}
