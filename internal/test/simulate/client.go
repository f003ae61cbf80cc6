package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// arrive starts clients for the length of the plan. Once ctx ends, they make no more calls.
func (w *World) arrive(ctx context.Context, clients *sync.WaitGroup) {
	arrivals := newDice(w.Seed, 6)
	n := 0
	for at := w.From; at < w.From+w.Length && ctx.Err() == nil; at += time.Second {
		mean := w.rate(at)
		if burst := at - w.BurstAt; burst >= 0 && burst < w.BurstFor {
			mean += float64(w.Burst) / w.BurstFor.Seconds()
		}
		for range arrivals.count(mean) {
			n++
			c := client{
				World: w, name: fmt.Sprint("job-", n), account: w.pick(arrivals), after: arrivals.between(0, time.Second),
				engine: warp, cancels: arrivals.happens(w.Canceled), reads: arrivals.happens(w.Polled), patience: arrivals.between(0, time.Minute),
			}
			if arrivals.happens(w.Neural.Share) {
				c.engine = wav2lip
			}
			clients.Go(func() { c.run(ctx) })
		}
		_ = sleep(ctx, time.Second)
	}
}

// pick draws an account. The first is large; of the others, each has fewer clients than the one
// before.
func (w *World) pick(d *dice) int {
	if d.happens(w.BigShare) || w.Accounts == 1 {
		return 0
	}
	// This is about the inverse of a distribution proportional to 1/n.
	return 1 + int(math.Pow(float64(w.Accounts-1), d.float())-1e-9)%(w.Accounts-1)
}

// client wants one job done.
type client struct {
	*World
	name     string // of the job, unique for this client
	account  int
	engine   string
	after    time.Duration // before its first call
	cancels  bool
	patience time.Duration // after which it cancels, if cancels
	reads    bool          // whether it reads its request until that is final
}

func (c client) run(ctx context.Context) {
	time.Sleep(c.after)
	if c.Sent > 0 {
		c.upload(ctx)
	}
	came := time.Now()
	id := c.create(ctx)
	if id == "" {
		return
	}
	c.ledger.accepted(id, account(c.account), came, c.cancels)
	if c.reads {
		c.read(ctx, id)
	}
	if c.cancels && sleep(ctx, c.patience) == nil {
		c.cancel(ctx, id)
	}
}

// upload creates an upload and sends it. The request doesn't name it.
func (c client) upload(ctx context.Context) {
	err := c.functions.call(ctx, "create-upload", apiTimeout, func(ctx context.Context) error {
		caller, err := c.authenticate(ctx, c.account, lipsync.ReadCall)
		if err == nil {
			_, err = c.service.CreateUpload(ctx, caller, requests.UploadParams{Kind: failure.Video, Size: 1})
		}
		return err
	})
	if err != nil {
		c.ledger.refused(err)
	}
	_ = sleep(ctx, c.Sent)
}

// maxTries is the most calls that a client makes for one answer.
const maxTries = 100

// create calls generate until a call succeeds, always with the same idempotency key.
func (c client) create(ctx context.Context) (id string) {
	for n := range maxTries {
		err := c.functions.call(ctx, "generate", apiTimeout, func(ctx context.Context) (err error) {
			id, err = c.generate(ctx, c.account, c.name, c.engine)
			return err
		})
		if err == nil && !c.dice.happens(c.Functions.Lost) {
			return id
		}
		c.ledger.refused(err)
		if sleep(ctx, c.pause(err, n)) != nil {
			return ""
		}
	}
	c.ledger.gaveUp()
	return ""
}

// pause returns the time that a client waits after the error of its nth try. It is one to two times
// the time in the error, if it has one; otherwise it grows with n.
func (c client) pause(err error, n int) time.Duration {
	wait := min(time.Second<<min(n, 5), 30*time.Second)
	if e, ok := errors.AsType[*failure.Error](err); ok && e.RetryAfter > 0 {
		wait = e.RetryAfter
	}
	return c.dice.between(wait, 2*wait)
}

// authenticate checks the account's API key and its rate, as every call does first.
func (w *World) authenticate(ctx context.Context, account int, kind lipsync.CallKind) (lipsync.Caller, error) {
	caller, err := w.service.Authenticate(ctx, w.tokens[account])
	if err == nil {
		err = w.service.Allow(ctx, caller, kind)
	}
	return caller, err
}

// generate makes one call of the generate endpoint.
func (w *World) generate(ctx context.Context, account int, name, engine string) (string, error) {
	caller, err := w.authenticate(ctx, account, lipsync.GenerateCall)
	if err != nil {
		return "", err
	}
	return w.service.Generate(ctx, caller, requests.Params{
		Video: requests.Source{URL: "https://media.example.com/" + name + "/video.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://media.example.com/" + name + "/audio.wav"}}},
		Order: order.Order{Engine: engine}, IdempotencyKey: new(name),
	})
}

// readOnce makes one call that reads the request.
func (w *World) readOnce(ctx context.Context, account int, id string) (r lipsync.Request, err error) {
	caller, err := w.authenticate(ctx, account, lipsync.ReadCall)
	if err == nil {
		r, _, err = w.service.Request(ctx, caller, id)
	}
	return r, err
}

// read reads the request at the intervals that the API asks for, until it is final or the
// simulation gives up.
func (c client) read(ctx context.Context, id string) {
	age := time.Duration(0)
	for begun := time.Now(); time.Since(begun) < drain; {
		if sleep(ctx, pollAfter(age)) != nil {
			return
		}
		var r lipsync.Request
		err := c.functions.call(ctx, "get-request", apiTimeout, func(ctx context.Context) (err error) {
			r, err = c.readOnce(ctx, c.account, id)
			return err
		})
		c.ledger.polled(id)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && failure.CodeOf(err) == failure.NotFound:
			c.ledger.wrong("a request is missing")
			return
		case err != nil:
			age = 0
		case r.Status.Final():
			return
		default:
			age = ageOf(r, time.Now())
		}
	}
}

// ageOf returns how long a request has had its status, as package rest computes it.
func ageOf(r lipsync.Request, now time.Time) time.Duration {
	if r.Status == lipsync.Processing {
		return now.Sub(r.StartedAt)
	}
	return now.Sub(r.CreatedAt)
}

// pollAfter returns Retry-After, as package rest computes it.
func pollAfter(age time.Duration) time.Duration {
	return max(1, time.Duration(math.Ceil(min(age/10, 30*time.Second).Seconds()))) * time.Second
}

func (c client) cancel(ctx context.Context, id string) {
	for n := range maxTries {
		err := c.functions.call(ctx, "cancel-request", apiTimeout, func(ctx context.Context) error {
			caller, err := c.authenticate(ctx, c.account, lipsync.ReadCall)
			if err == nil {
				_, err = c.service.Cancel(ctx, caller, id)
			}
			return err
		})
		if err == nil || failure.CodeOf(err) == failure.Finished || sleep(ctx, c.pause(err, n)) != nil {
			return
		}
	}
}
