// Package soak has many clients that make small requests while a test causes faults. At the end it
// counts the errors that no fault may cause.
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

// Load has a number of clients. Each makes requests one after the other, and waits until each ends.
// After an answer that is an error of the service, a client tries again with the same idempotency
// key. Set the fields once, before use.
type Load struct {
	Base         func() string // address of the service without /api; it may change
	Tokens       []string      // API keys, each of an account of its own
	Jobs         int           // total number of requests
	Clients      int           // number of concurrent clients
	Video, Audio []byte
	Poll         time.Duration // between two reads of a request
	Pause        time.Duration // of a client between two requests
	Seed         uint64        // of the clients' random decisions

	form     []byte
	formType string
	next     atomic.Int64 // number of jobs begun
	ended    atomic.Int64 // number of jobs whose end was seen

	mu     sync.Mutex
	jobs   []*job
	report Report
}

// job is one request as its client sees it.
type job struct {
	token, key string // the API key and the idempotency key
	reply      string // to the first call that was answered
	id         string
	end        state // zero until the end was seen
}

// state has the fields of a request that clients read.
type state struct {
	Status       string    `json:"status"`
	FinishedAt   time.Time `json:"finished_at"`
	ErrorMessage string    `json:"error_message"`
}

// Ended returns the number of requests whose end the clients have seen.
func (l *Load) Ended() int { return int(l.ended.Load()) }

// Run returns once the clients have seen all requests end, or with the error of ctx.
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
				pause(ctx, l.Pause)
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
		_, _ = w.Write(part.content) // writing to memory can't fail
	}
	err := form.Close()
	l.form, l.formType = body.Bytes(), form.FormDataContentType()
	return err
}

// do makes the request, and waits until it ends. It also repeats the generate call, right away or
// after the end.
func (l *Load) do(ctx context.Context, j *job, random *rand.Rand) {
	j.reply = l.generate(ctx, j)
	var made struct {
		ID string `json:"request_id"`
	}
	_ = json.Unmarshal([]byte(j.reply), &made) // a malformed reply has no id
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
	for l.poll(ctx, j) && pause(ctx, l.Poll) {
	}
	if !soon {
		l.repeat(ctx, j)
	}
	l.ended.Add(1)
}

// repeat repeats the generate call. The reply must be the same, byte for byte.
func (l *Load) repeat(ctx context.Context, j *job) {
	if reply := l.generate(ctx, j); reply != j.reply && ctx.Err() == nil {
		l.wrong(func(r *Report) {
			r.Replies = append(r.Replies, fmt.Sprintf("%s: got %s, want the first reply %s", j.key, reply, j.reply))
		})
	}
}

// poll reads the request, and reports whether it has not ended yet.
func (l *Load) poll(ctx context.Context, j *job) bool {
	var s state
	body := l.get(ctx, j)
	if body == "" {
		return true // the next read may succeed
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

// Seed returns the seed of a soak test, and prints it. It draws a random seed if asked is 0. The
// same seed makes the same faults in the same order.
func Seed(t *testing.T, asked uint64) uint64 {
	t.Helper()
	if asked == 0 {
		asked = rand.Uint64()
	}
	t.Logf("-seed %d", asked)
	return asked
}

// wrong records an error in the report.
func (l *Load) wrong(note func(*Report)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	note(&l.report)
}

// pause waits, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
