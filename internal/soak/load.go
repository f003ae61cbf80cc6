// Package soak is for tests that make faults while clients ask for many small requests: it
// plays the clients, and counts at the end what must not have happened.
package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Load is clients that ask for requests, one after the other, and wait for their ends. An
// answer that tells of a fault makes them try again, with the same idempotency key. Its
// fields are set once, before use.
type Load struct {
	Base         func() string // address of the service, without /api; it may change
	Tokens       []string      // of API keys, each the only one of its account
	Jobs         int           // requests in all
	Clients      int           // that ask at once
	Video, Audio []byte
	Poll         time.Duration // between two looks at a request
	Seed         uint64        // of what clients do by chance

	form     []byte
	formType string
	next     atomic.Int64 // jobs that were begun
	ended    atomic.Int64 // jobs whose end was seen

	mu     sync.Mutex
	jobs   []*job
	report Report
}

// job is one request, as its client sees it.
type job struct {
	token, key string // the API key and the idempotency key
	reply      string // of the first call that was answered
	id         string
	end        state // zero until it was seen
}

// state is what clients read of a request.
type state struct {
	Status       string    `json:"status"`
	FinishedAt   time.Time `json:"finished_at"`
	ErrorMessage string    `json:"error_message"`
}

// Ended returns of how many requests the clients have seen the end.
func (l *Load) Ended() int { return int(l.ended.Load()) }

// Run returns once the clients have seen the ends of all requests, or with the error of ctx.
func (l *Load) Run(ctx context.Context) error {
	if err := l.makeForm(); err != nil {
		return err
	}
	var all sync.WaitGroup
	for client := range l.Clients {
		random := rand.New(rand.NewPCG(l.Seed, uint64(client)))
		all.Go(func() {
			for n := l.next.Add(1); n <= int64(l.Jobs) && ctx.Err() == nil; n = l.next.Add(1) {
				l.do(ctx, &job{token: l.Tokens[int(n)%len(l.Tokens)], key: fmt.Sprintf("job %d", n)}, random)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// makeForm writes the body of all generate calls.
func (l *Load) makeForm() error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, part := range []struct {
		name    string
		content []byte
	}{{"video", l.Video}, {"audio", l.Audio}} {
		w, err := form.CreateFormFile(part.name, part.name)
		if err != nil {
			return err
		}
		_, _ = w.Write(part.content) // to memory
	}
	err := form.Close()
	l.form, l.formType = body.Bytes(), form.FormDataContentType()
	return err
}

// do makes the request and waits for its end. The generate call is repeated: at once, or
// after the end.
func (l *Load) do(ctx context.Context, j *job, random *rand.Rand) {
	j.reply = l.generate(ctx, j)
	var made struct {
		ID string `json:"request_id"`
	}
	_ = json.Unmarshal([]byte(j.reply), &made) // a reply that is none has no id
	j.id = made.ID
	l.mu.Lock()
	l.jobs = append(l.jobs, j)
	l.mu.Unlock()
	if j.id == "" {
		return
	}
	soon := random.IntN(2) == 0
	if soon {
		l.repeat(ctx, j)
	}
	for l.look(ctx, j) && pause(ctx, l.Poll) {
	}
	if !soon {
		l.repeat(ctx, j)
	}
	l.ended.Add(1)
}

// repeat repeats the generate call: it has the same reply, byte for byte.
func (l *Load) repeat(ctx context.Context, j *job) {
	if reply := l.generate(ctx, j); reply != j.reply && ctx.Err() == nil {
		l.wrong(func(r *Report) {
			r.Replies = append(r.Replies, fmt.Sprintf("%s: got %s, before it was %s", j.key, reply, j.reply))
		})
	}
}

// look reads the request, and reports whether its end is still to come.
func (l *Load) look(ctx context.Context, j *job) bool {
	var s state
	body := l.get(ctx, j)
	if body == "" {
		return true // another look may tell more
	}
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		l.wrong(func(r *Report) { r.Lost = append(r.Lost, fmt.Sprintf("request %s: %v: %s", j.id, err, body)) })
		return false
	}
	if s.Status != "completed" && s.Status != "failed" {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	j.end = s
	return false
}

// Seed returns the seed of a soak, a random one if it is asked for 0, and prints it: with
// it, a soak makes the same faults in the same order.
func Seed(t *testing.T, asked uint64) uint64 {
	t.Helper()
	if asked == 0 {
		asked = rand.Uint64()
	}
	t.Logf("-seed %d", asked)
	return asked
}

// wrong notes what went wrong.
func (l *Load) wrong(note func(*Report)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note(&l.report)
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
