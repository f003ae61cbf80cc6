package simulate

import (
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// job has the events of a request as clients, workers and the service reported them. check compares
// it with the request in the store.
type job struct {
	account                string
	created, started, done time.Time
	failed                 bool
	neural                 bool // its engine needs a network
	canceled               bool // at its client's wish
	accepted, checked      bool
	finishes               int
	claims                 int
	reads                  int32 // calls of its client that read it
}

// ledger records the events of all requests, and checks each request after its end.
type ledger struct {
	*World
	end     time.Time
	stopped bool // before all requests were final

	mu        sync.Mutex
	jobs      map[string]*job
	open      int // requests that are not checked yet
	final     []due
	left      int // accepted requests that were open when the simulation was stopped
	lost      []string
	doubled   []string
	errors    []string
	refusals  map[string]int
	abandoned int
	useful    time.Duration // of renders that were needed
	busyBy    hours         // rendering time of machines
	attempts  int
}

type due struct {
	id string
	at time.Time
}

// checkAfter is the time from a request's end to its check. Late messages and workers have come by
// then.
const checkAfter = 3 * time.Minute

func (l *ledger) get(id, account string, created time.Time) *job {
	j := l.jobs[id]
	if j == nil {
		j = &job{account: account, created: created}
		l.jobs[id] = j
		l.open++
	}
	return j
}

// accepted records that a client got the id of its request.
func (l *ledger) accepted(id, account string, came time.Time, cancels bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.get(id, account, came)
	if j.accepted {
		l.doubled = append(l.doubled, id+": given to two clients")
	}
	j.accepted, j.canceled, j.created = true, cancels, came
}

// counts returns the number of requests that exist, and of those that are not final.
func (l *ledger) counts() (made, open int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.jobs), l.open - len(l.final)
}

func (l *ledger) polled(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs[id].reads++
}

// refused counts an answer that was not a success. nil stands for a lost answer.
func (l *ledger) refused(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refusals == nil {
		l.refusals = make(map[string]int)
	}
	text := "answer lost"
	if err != nil {
		text = brief(err)
	}
	l.refusals[text]++
}

func (l *ledger) gaveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned++
}

func (l *ledger) wrong(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errors = append(l.errors, text)
}

// rendered adds the machine time of a render.
func (l *ledger) rendered(from, to time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.useful += to.Sub(from)
	l.busyBy.add(from, to)
}

var _ lipsync.Watcher = (*ledger)(nil)

func (l *ledger) Created(r lipsync.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.get(r.ID, r.Account, r.CreatedAt)
}

func (l *ledger) Started(r lipsync.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j := l.get(r.ID, r.Account, r.CreatedAt); j.started.IsZero() {
		j.started = time.Now()
	}
}

func (l *ledger) Finished(r lipsync.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.get(r.ID, r.Account, r.CreatedAt)
	if j.finishes++; j.finishes > 1 {
		if j.checked {
			l.doubled = append(l.doubled, r.ID+": finished again")
		}
		return
	}
	l.final = append(l.final, due{r.ID, time.Now().Add(checkAfter)})
}

// Postponed, Posted, Waiting, Unreachable, Failing and Refused implement lipsync.Watcher.
func (*ledger) Postponed(lipsync.Request, failure.Failure) {}
func (*ledger) Posted(lipsync.Delivery, time.Duration)     {}
func (*ledger) Waiting(time.Duration)                      {}
func (*ledger) Unreachable(int)                            {}
func (*ledger) Failing(time.Duration)                      {}
func (*ledger) Refused(lipsync.BusEvent)                   {}
func (*ledger) CallNotNoted()                              {}
