package simulate

import (
	"context"
	"fmt"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/simulate/table"
)

// settled reports whether all requests are final.
func (l *ledger) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open-len(l.final) <= 0
}

// run checks requests that have become final, until ctx ends.
func (l *ledger) run(ctx context.Context) {
	for sleep(ctx, 10*time.Second) == nil {
		for id := l.next(time.Now()); id != ""; id = l.next(time.Now()) {
			l.check(ctx, id)
		}
	}
}

func (l *ledger) next(now time.Time) (id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.final) == 0 || l.final[0].at.After(now) {
		return ""
	}
	id = l.final[0].id
	l.final = l.final[1:]
	return id
}

// check checks a request that must be final, and then removes it from the table.
func (l *ledger) check(ctx context.Context, id string) {
	r, err := l.store.Requests.ByID(table.Instant(ctx), id)
	if ctx.Err() != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.final = append(l.final, due{id: id})
		return
	}
	output := err == nil && l.objects.take(r.Output)
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jobs[id]
	if j.checked {
		return
	}
	j.checked = true
	l.open--
	switch {
	case err != nil:
		l.lost = append(l.lost, fmt.Sprintf("%s: %v", id, err))
	case !r.Status.Final() && l.stopped:
		l.left++
		return
	case !r.Status.Final():
		l.lost = append(l.lost, fmt.Sprintf("%s: %s, %d claims", id, r.Status, r.Claims))
	case r.Status == lipsync.Completed && !output:
		l.lost = append(l.lost, id+": no output")
	case r.Failed():
		l.lost = append(l.lost, fmt.Sprintf("%s: failed, %v", id, r.Failure))
	case r.Failure.Code == failure.Canceled && !j.canceled:
		l.errors = append(l.errors, id+": canceled without a cancel")
	}
	j.neural = r.Class == lipsync.Neural
	j.done, j.failed, j.claims = r.FinishedAt, r.Status == lipsync.Failed, r.Claims
	if j.started.IsZero() {
		j.started = r.StartedAt
	}
	l.attempts += r.Claims
	l.table.Forget(id)
}

// close checks the remaining requests, and the counts of the accounts.
func (l *ledger) close(ctx context.Context) error {
	l.mu.Lock()
	var ids []string
	for id, j := range l.jobs {
		if !j.checked {
			ids = append(ids, id)
		}
	}
	l.mu.Unlock()
	for _, id := range ids {
		l.check(ctx, id)
	}
	if left := len(l.objects.keys); left > 0 {
		l.doubled = append(l.doubled, fmt.Sprintf("%d outputs are left without a request", left))
	}
	for id, j := range l.jobs {
		if !j.accepted && !l.stopped {
			l.doubled = append(l.doubled, id+": unknown to every client")
		}
	}
	return l.compare(ctx)
}

// compare compares the lists and counts of the accounts with the requests that were made.
func (l *ledger) compare(ctx context.Context) error {
	made := make(map[string]int64)
	var failed int64
	for _, j := range l.jobs {
		made[j.account]++
	}
	for n := range l.Accounts {
		name := account(n)
		_, total, err := l.store.Requests.List(ctx, name, "", 1<<40, 1)
		if err != nil {
			return err
		}
		if total != made[name] {
			l.errors = append(l.errors, fmt.Sprintf("%s lists %d requests and made %d", name, total, made[name]))
		}
		days, err := l.store.Requests.Usage(ctx, name, l.end, 2)
		if err != nil {
			return err
		}
		for _, d := range days {
			made[name] -= d.Requests
			failed += d.Failed
		}
		if made[name] != 0 {
			l.errors = append(l.errors, fmt.Sprintf("%s counts %d requests too few", name, made[name]))
		}
	}
	if failed != 0 { // canceled requests are not among them
		l.errors = append(l.errors, fmt.Sprintf("%d are counted as failed", failed))
	}
	return nil
}
