// Package requests has what can happen to one request: a client makes it, workers claim and hold it, and it ends.
package requests

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Service makes requests, lets workers claim and hold them, and ends them.
type Service struct {
	*base.Base
	foretold atomic.Int64 // Unix time in seconds of the last Foretell
}

// New returns a Service.
func New(b *base.Base) *Service { return &Service{Base: b} }

// Generate creates a request and returns its id. For a repeated call with the same idempotency key
// it returns the id of the first call. It deletes the media that were stored for the request if it
// refuses the call or the call is a repetition. It returns NoSpace if the disk has too little space
// for the output.
func (s *Service) Generate(ctx context.Context, c lipsync.Caller, p Params) (id string, err error) {
	id, err = s.generate(ctx, c, p)
	if p.stored() && id != p.ID {
		// If this fails, an orphan remains, which Tidy deletes.
		_ = s.DiscardMedia(context.WithoutCancel(ctx), p)
	}
	return id, err
}

func (s *Service) generate(ctx context.Context, c lipsync.Caller, p Params) (string, error) {
	engine, err := s.CheckParams(p)
	if err != nil {
		return "", err
	}
	r, err := s.newRequest(ctx, c, p, engine)
	if failure.CodeOf(err) == failure.Invalid && p.IdempotencyKey != nil {
		// A repeated call gets the first call's answer, even if its uploads have been deleted
		// since.
		if id, replayed := s.Store.Requests.Replayed(ctx, c.Account, *p.idempotency(s.Now()), s.Now()); failure.CodeOf(replayed) != failure.NotFound {
			return id, ExplainReplay(replayed)
		}
	}
	if err != nil {
		return "", err
	}
	if !p.stored() { // otherwise StoreMedia has checked the space
		if err := s.Room(0); err != nil {
			return "", err
		}
	}
	return s.create(ctx, r, p)
}

// CheckParams checks all parameters except the sources, and returns the name of the engine.
func (s *Service) CheckParams(p Params) (engine string, err error) {
	if err := p.validate(); err != nil {
		return "", err
	}
	if err := p.Output.Check(); err != nil {
		return "", err
	}
	if err := s.CheckProvenance(p.Output); err != nil {
		return "", err
	}
	if err := p.record().CheckSize(); err != nil {
		return "", err
	}
	return s.engine(p.Engine)
}

// Make makes a request whose parameters CheckParams has checked, with the engine that it returned.
func (s *Service) Make(ctx context.Context, c lipsync.Caller, p Params, engine string) error {
	r, err := s.newRequest(ctx, c, p, engine)
	if err == nil {
		err = s.Room(0)
	}
	if err == nil {
		_, err = s.create(ctx, r, p)
	}
	return err
}

// newRequest checks the sources and returns the request. It stores nothing.
func (s *Service) newRequest(ctx context.Context, c lipsync.Caller, p Params, engine string) (lipsync.Request, error) {
	video, audios, sizes, err := s.inputs(ctx, c, p)
	if err != nil {
		return lipsync.Request{}, err
	}
	r := p.record()
	r.Account, r.KeyID, r.CallID, r.Status, r.Engine, r.CreatedAt = c.Account, c.KeyID, c.CallID, lipsync.Queued, engine, s.Now()
	r.Video, r.Audio, r.Tracks = video, audios[0].Input, newTracks(audios)
	r.Class = lipsync.ClassOf(r, sizes...)
	if r.ID == "" {
		r.ID = s.NewID()
	}
	return r, nil
}

// create stores the request and sends a message to the queue.
func (s *Service) create(ctx context.Context, r lipsync.Request, p Params) (string, error) {
	limits := s.Limits
	created, replayed, err := s.Store.Requests.Create(ctx, r, p.UploadIDs(), p.idempotency(r.CreatedAt), limits)
	switch failure.CodeOf(err) {
	case "":
	case failure.TokenLimit:
		return "", failure.Restate(err, failure.TokenLimit, "token limit reached")
	case failure.Reused:
		return "", ExplainReplay(err)
	case failure.Invalid:
		return "", failure.Restate(err, failure.Invalid, "upload does not exist")
	case failure.NotFound, failure.Finished:
		return "", ExplainTargets(err)
	default:
		return "", limits.Explain(err)
	}
	if !replayed {
		s.Watcher.Created(created)
		// The request is stored. If Send fails, Sweep sends another message.
		_ = s.Hints.Send(ctx, created)
	}
	return created.ID, nil
}

// ExplainTargets gives an error of Targets.Resolve about a webhook_url the message for the client. It returns any other
// error as it is.
func ExplainTargets(err error) error {
	switch failure.CodeOf(err) {
	case failure.NotFound:
		return failure.New(failure.Invalid, "webhook_url must be the URL of a webhook of the account, with any query")
	case failure.Finished:
		return failure.New(failure.Invalid, "webhook_url names a webhook that is disabled, since its URL answered 410; enable it first")
	default:
		return err
	}
}

// ExplainReplay gives an error with the code Reused the message for the client. It returns any
// other error as it is.
func ExplainReplay(err error) error {
	return failure.Restate(err, failure.Reused, "idempotency key was used with a different request")
}

// inputs checks that the caller may use all sources, and returns them as inputs, with the sizes that Input returns.
func (s *Service) inputs(ctx context.Context, c lipsync.Caller, p Params) (video lipsync.Input, audios []lipsync.NamedInput, sizes []int64, err error) {
	video, size, err := s.Input(ctx, c, failure.Video, p.Video)
	if err != nil {
		return lipsync.Input{}, nil, nil, err
	}
	sizes = append(sizes, size)
	for _, track := range p.Audios {
		in, size, err := s.Input(ctx, c, failure.Audio, track.Source)
		if err != nil {
			return lipsync.Input{}, nil, nil, err
		}
		audios, sizes = append(audios, lipsync.NamedInput{Ref: track.Ref, Input: in}), append(sizes, size)
	}
	return video, audios, sizes, nil
}

// engine returns the name of the engine for the name that the client sent.
func (s *Service) engine(name string) (string, error) {
	switch {
	case name == "" && len(s.Engines) > 0:
		return s.Engines[0], nil
	case !slices.Contains(s.Engines, name):
		return "", failure.New(failure.Invalid, "model must be one of: "+strings.Join(s.Engines, ", "))
	}
	return name, nil
}

// Analyze creates a request for an Analysis of a video and returns its id. It returns NoSpace if the disk
// has too little space.
func (s *Service) Analyze(ctx context.Context, c lipsync.Caller, video Source) (id string, err error) {
	in, size, err := s.Input(ctx, c, failure.Video, video)
	if err != nil {
		return "", err
	}
	if err := s.Room(0); err != nil {
		return "", err
	}
	r := lipsync.Request{ID: s.NewID(), Account: c.Account, CallID: c.CallID, Kind: lipsync.ToAnalyze, Status: lipsync.Queued, Video: in, CreatedAt: s.Now()}
	r.Class = lipsync.ClassOf(r, size)
	return s.create(ctx, r, Params{Video: video})
}

// Estimate creates a request for an Estimate of a request with the parameters, and returns its id. It refuses what Generate would refuse,
// except for limits. It doesn't use the key's limit, the reference id, the webhook or the idempotency key.
func (s *Service) Estimate(ctx context.Context, c lipsync.Caller, p Params) (id string, err error) {
	engine, err := s.CheckParams(p)
	if err != nil {
		return "", err
	}
	r, err := s.newRequest(ctx, c, p, engine)
	if err != nil {
		return "", err
	}
	if err := s.Room(0); err != nil {
		return "", err
	}
	if err := s.checkTargets(ctx, c, r.Targets); err != nil {
		return "", err
	}
	r.Kind, r.KeyID, r.ReferenceID, r.Targets = lipsync.ToEstimate, "", "", nil
	p.IdempotencyKey = nil
	return s.create(ctx, r, p)
}

// checkTargets returns an error, which is Invalid, if the caller has no webhook that the Targets of a new request name, or if it is disabled.
func (s *Service) checkTargets(ctx context.Context, c lipsync.Caller, t lipsync.Targets) error {
	if t.URL() == "" {
		return nil
	}
	webhooks, err := s.Store.Webhooks.Of(ctx, c.Account)
	if err != nil {
		return err
	}
	_, err = t.Resolve(webhooks)
	return failure.Unless(failure.EventLimit, ExplainTargets(err))
}
