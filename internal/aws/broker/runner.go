package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// Invoke calls the function with the text, and returns its answer.
type Invoke func(ctx context.Context, text []byte) ([]byte, error)

// Records are those of the service, by calls of the function.
type Records struct {
	invoke Invoke
	duty   lipsync.Duty
}

var (
	_ service.Records = (*Records)(nil)
	_ SmallWorkers    = (*Records)(nil)
)

// NewRecords returns the records behind the function, for a runner with the duty.
func NewRecords(invoke Invoke, d lipsync.Duty) *Records { return &Records{invoke, d} }

// send sends a message, and returns the error that the function told.
func (r *Records) send(ctx context.Context, c message) (a answer, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return a, err
	}
	if text, err = r.invoke(ctx, text); err != nil {
		return a, fmt.Errorf("call the broker: %w", err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("answer of the broker: %w", err)
	}
	return a, a.Error.err()
}

// on returns a message about a claimed request.
func on(r lipsync.Request, do operation) message { return message{Do: do, ID: r.ID, Lease: r.Lease} }

// did sends a message that gets no more than an error.
func (r *Records) did(ctx context.Context, c message) error {
	_, err := r.send(ctx, c)
	return err
}

// Claim claims the next request only, of any account.
func (r *Records) Claim(ctx context.Context, id string, except ...string) (lipsync.Request, error) {
	if id != "" || len(except) > 0 {
		return lipsync.Request{}, errors.New("a runner can't choose what it claims")
	}
	a, err := r.send(ctx, message{Do: claim, Duty: r.duty})
	if err != nil {
		return lipsync.Request{}, err
	}
	if a.Request == nil {
		return lipsync.Request{}, errors.New("the broker answers a claim without a request")
	}
	return a.Request.request()
}

func (r *Records) Renew(ctx context.Context, q lipsync.Request) error {
	return r.did(ctx, on(q, renew))
}

func (r *Records) Held(ctx context.Context, q lipsync.Request) error { return r.did(ctx, on(q, held)) }

func (r *Records) Report(ctx context.Context, q lipsync.Request, p lipsync.Progress) error {
	c := on(q, report)
	c.Progress = p
	return r.did(ctx, c)
}

func (r *Records) NoteVideo(ctx context.Context, q lipsync.Request, video [32]byte) error {
	c := on(q, noteVideo)
	c.Video = video[:]
	return r.did(ctx, c)
}

func (r *Records) Release(ctx context.Context, q lipsync.Request) error {
	return r.did(ctx, on(q, release))
}

func (r *Records) Enlarge(ctx context.Context, q lipsync.Request) error {
	return r.did(ctx, on(q, enlarge))
}

func (r *Records) BeginSmall(ctx context.Context, start string) error {
	return r.did(ctx, message{Do: beginSmall, Start: start})
}

func (r *Records) EndSmall(ctx context.Context, start string) error {
	return r.did(ctx, message{Do: endSmall, Start: start})
}

// Fault tells the function of a fault, which gets the failure that err is, and its RetryAfter.
func (r *Records) Fault(ctx context.Context, q lipsync.Request, err error, took time.Duration) (f failure.Failure, again time.Time, _ error) {
	c := on(q, fault)
	c.Ended, c.Took = ended{VideoLength: q.VideoLength, AudioLength: q.AudioLength, Fault: newError(err, failure.Of(err))}, min(took, maxTook)
	a, err := r.send(ctx, c)
	return a.Fault.failure(), a.Again, err
}

func (r *Records) Finish(ctx context.Context, q lipsync.Request, o lipsync.Outcome) error {
	c := on(q, finish)
	c.Ended = ended{VideoLength: q.VideoLength, AudioLength: q.AudioLength, Outcome: o}
	return r.did(ctx, c)
}

func (r *Records) NoteSpeed(ctx context.Context, q lipsync.Request, size int64, took time.Duration) error {
	c := on(q, noteSpeed)
	c.Size, c.Took = size, min(took, maxTook)
	return r.did(ctx, c)
}

func (r *Records) Worked(ctx context.Context, of lipsync.Stint) (all time.Duration, err error) {
	a, err := r.send(ctx, message{Do: worked, Duty: of.Duty, Class: of.Class, Took: min(of.Took, maxTook)})
	return a.All, err
}

// Objects are the objects of the claimed request that a context has; see lipsync.WithHeld. Open, Put and Delete reach them by sessions. The other
// methods have only the runner's own rights.
type Objects struct {
	lipsync.Objects
	records *Records
	open    func(aws.CredentialsProvider) lipsync.Objects

	mu     sync.Mutex
	leases []*leased // as many as a runner holds, the last used one last
}

// leased has the sessions of a lease.
type leased struct {
	lease  string
	scopes map[string]lipsync.Objects // by the sessions for them
}

// NewObjects returns the objects of a runner. own has those that the runner reaches by its own rights, and open returns them as a session reaches
// them.
func NewObjects(r *Records, own lipsync.Objects, open func(aws.CredentialsProvider) lipsync.Objects) *Objects {
	return &Objects{Objects: own, records: r, open: open}
}

// of returns the objects as a session for the one with the key reaches them.
func (o *Objects) of(ctx context.Context, key string) lipsync.Objects {
	q, name := lipsync.HeldIn(ctx), scope(key)
	o.mu.Lock()
	defer o.mu.Unlock()
	scopes := o.scopesOf(q.Lease)
	if scopes[name] == nil {
		scopes[name] = o.open(aws.NewCredentialsCache(&grant{o.records, q, key}, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = renewBefore }))
	}
	return scopes[name]
}

// scopesOf returns the objects that sessions of the lease reach. It forgets those of the lease that was used the longest ago, if there are more than the
// runner holds.
func (o *Objects) scopesOf(lease string) map[string]lipsync.Objects {
	last := &leased{lease, map[string]lipsync.Objects{}}
	if i := slices.IndexFunc(o.leases, func(l *leased) bool { return l.lease == lease }); i >= 0 {
		last = o.leases[i]
		o.leases = slices.Delete(o.leases, i, i+1)
	}
	o.leases = append(o.leases, last)
	if len(o.leases) > o.records.duty.AtOnce() {
		o.leases = slices.Delete(o.leases, 0, 1)
	}
	return last.scopes
}

func (o *Objects) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	return o.of(ctx, key).Open(ctx, key)
}

func (o *Objects) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	return o.of(ctx, key).Put(ctx, key, r, size)
}

func (o *Objects) Delete(ctx context.Context, key string) error {
	return o.of(ctx, key).Delete(ctx, key)
}

// grant gets sessions for the object with the key.
type grant struct {
	records *Records
	request lipsync.Request
	key     string
}

func (g *grant) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c := on(g.request, session)
	c.Key = g.key
	a, err := g.records.send(ctx, c)
	if err != nil {
		return aws.Credentials{}, err
	}
	if a.Session == nil {
		return aws.Credentials{}, errors.New("the broker answers without a session")
	}
	s := a.Session
	return aws.Credentials{AccessKeyID: s.Key, SecretAccessKey: s.Secret, SessionToken: s.Token, CanExpire: true, Expires: s.Until, Source: "broker"}, nil
}
