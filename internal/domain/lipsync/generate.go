package lipsync

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// RequestParams are the parameters of a new request.
type RequestParams struct {
	ID           string // id that StoreMedia was called with; "" if it was not called
	Video, Audio Source
	AudioRef     string  // the name by which segments refer to Audio; "" if it has none
	More         []Track // further speech tracks, for segments
	order.Order
	Segments       order.Segments
	IdempotencyKey *string // may be nil
	WebhookURL     *string // URL of a webhook of the account, with any query, which gets all events; may be nil
}

// Generate creates a request and returns its id. For a repeated call with the same idempotency key
// it returns the id of the first call. It deletes the media that were stored for the request if it
// refuses the call or the call is a repetition. It returns NoSpace if the disk has too little space
// for the output.
func (s *Service) Generate(ctx context.Context, c Caller, p RequestParams) (id string, err error) {
	id, err = s.generate(ctx, c, p)
	if p.ID != "" && id != p.ID {
		// If this fails, an orphan remains, which Tidy deletes.
		_ = s.DiscardMedia(context.WithoutCancel(ctx), p)
	}
	return id, err
}

func (s *Service) generate(ctx context.Context, c Caller, p RequestParams) (string, error) {
	engine, err := s.check(p)
	if err != nil {
		return "", err
	}
	r, err := s.newRequest(ctx, c, p, engine)
	if failure.CodeOf(err) == failure.Invalid && p.IdempotencyKey != nil {
		// A repeated call gets the first call's answer, even if its uploads have been deleted
		// since.
		if id, replayed := s.Store.Requests.Replayed(ctx, c.Account, *p.idempotency(s.Now()), s.Now()); failure.CodeOf(replayed) != failure.NotFound {
			return id, explainReplay(replayed)
		}
	}
	if err != nil {
		return "", err
	}
	if p.ID == "" { // otherwise StoreMedia has checked the space
		if err := s.Room(0); err != nil {
			return "", err
		}
	}
	return s.create(ctx, r, p)
}

// check checks all parameters except the sources, and returns the name of the engine.
func (s *Service) check(p RequestParams) (engine string, err error) {
	if err := p.validate(); err != nil {
		return "", err
	}
	if err := p.Output.Check(); err != nil {
		return "", err
	}
	if err := s.CheckProvenance(p.Output); err != nil {
		return "", err
	}
	return s.engine(p.Engine)
}

// newRequest checks the sources and returns the request. It stores nothing.
func (s *Service) newRequest(ctx context.Context, c Caller, p RequestParams, engine string) (Request, error) {
	video, audios, err := s.inputs(ctx, c, p)
	if err != nil {
		return Request{}, err
	}
	r := Request{
		ID: p.ID, Account: c.Account, KeyID: c.KeyID, ReferenceID: p.Reference(), Status: Queued,
		Video: video, Audio: audios[0].Input, Tracks: newTracks(audios), LargestFace: p.LargestFace, Engine: engine, Options: p.options(),
		Targets: NewTargets(p.webhookURL()), CreatedAt: s.Now(),
	}
	if r.ID == "" {
		r.ID = s.NewID()
	}
	return r, nil
}

// create stores the request and sends a message to the queue.
func (s *Service) create(ctx context.Context, r Request, p RequestParams) (string, error) {
	limits := s.Limits
	created, replayed, err := s.Store.Requests.Create(ctx, r, p.uploads(), p.idempotency(r.CreatedAt), limits)
	switch failure.CodeOf(err) {
	case "":
	case failure.TokenLimit:
		return "", failure.Restate(err, failure.TokenLimit, "token limit reached")
	case failure.Reused:
		return "", explainReplay(err)
	case failure.Invalid:
		return "", failure.Restate(err, failure.Invalid, "upload does not exist")
	case failure.NotFound, failure.Finished:
		return "", explainTargets(err)
	default:
		return "", limits.explain(err)
	}
	if !replayed {
		s.Watcher.Created(created)
		// The request is stored. If Send fails, Sweep sends another message.
		_ = s.Queue.Send(ctx, created)
	}
	return created.ID, nil
}

// explainTargets gives an error of Targets.Resolve about a webhook_url the message for the client. It returns any other
// error as it is.
func explainTargets(err error) error {
	switch failure.CodeOf(err) {
	case failure.NotFound:
		return failure.New(failure.Invalid, "webhook_url must be the URL of a webhook of the account, with any query")
	case failure.Finished:
		return failure.New(failure.Invalid, "webhook_url names a webhook that is disabled, since its URL answered 410; enable it first")
	default:
		return err
	}
}

// explainReplay gives an error with the code Reused the message for the client. It returns any
// other error as it is.
func explainReplay(err error) error {
	return failure.Restate(err, failure.Reused, "idempotency key was used with a different request")
}

// inputs checks that the caller may use all sources, and returns them as inputs.
func (s *Service) inputs(ctx context.Context, c Caller, p RequestParams) (video Input, audios []NamedInput, err error) {
	if video, err = s.input(ctx, c, failure.Video, p.Video); err != nil {
		return Input{}, nil, err
	}
	for _, track := range p.tracks() {
		in, err := s.input(ctx, c, failure.Audio, track.Source)
		if err != nil {
			return Input{}, nil, err
		}
		audios = append(audios, NamedInput{track.Ref, in})
	}
	return video, audios, nil
}

// idempotency returns the record of the request's idempotency key, or nil if it has no key.
func (p RequestParams) idempotency(now time.Time) *Idempotency {
	if p.IdempotencyKey == nil {
		return nil
	}
	return &Idempotency{Key: *p.IdempotencyKey, Fingerprint: p.fingerprint(), ExpiresAt: now.Add(idempotentLife)}
}

// webhookURL returns the URL of the named webhook, or "" if there is none.
func (p RequestParams) webhookURL() string {
	if p.WebhookURL == nil {
		return ""
	}
	return *p.WebhookURL
}

// Order returns the order that a request is made of.
func (r Request) Order() order.Order {
	o := order.OrderOf(r.Options)
	o.LargestFace, o.Engine = r.LargestFace, r.Engine
	if r.ReferenceID != "" {
		o.ReferenceID = &r.ReferenceID
	}
	return o
}

// options returns the options of the request, with its output and its segments.
func (p RequestParams) options() order.Options {
	o := p.Whole()
	o.Segments = p.Segments
	return o
}

func (p RequestParams) validate() error {
	if p.ReferenceID != nil && !order.ValidText(*p.ReferenceID) {
		return failure.New(failure.Invalid, "reference_id must be 1 to 255 characters")
	}
	if p.IdempotencyKey != nil && !order.ValidText(*p.IdempotencyKey) {
		return failure.New(failure.Invalid, "Idempotency-Key must be 1 to 255 characters")
	}
	if p.LargestFace && p.Options.Face.By != order.AutoFace {
		return failure.New(failure.Invalid, "face can't be chosen with disable_active_speaker_detection")
	}
	if p.WebhookURL != nil && !order.ValidURL(*p.WebhookURL) {
		return failure.New(failure.Invalid, order.URLRule("webhook_url"))
	}
	return p.checkTracks()
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

// sources returns the video and all speech tracks.
func (p RequestParams) sources() []Source {
	all := []Source{p.Video}
	for _, track := range p.tracks() {
		all = append(all, track.Source)
	}
	return all
}

// uploads returns the ids of the uploads that the request names, each once.
func (p RequestParams) uploads() []string {
	var ids []string
	for _, source := range p.sources() {
		if id, ok := source.upload(); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// fingerprint returns a SHA-256 of all parameters. It depends also on the endpoint, since stored
// media have a SHA-256 and no URL.
func (p RequestParams) fingerprint() [32]byte {
	type source struct {
		URL    string
		SHA256 [32]byte
	}
	type track struct {
		Ref    string
		Source source
	}
	var more []track
	for _, t := range p.More {
		more = append(more, track{t.Ref, source{t.URL, t.SHA256}})
	}
	text, _ := json.Marshal(struct { // strings, booleans and bytes always encode
		Video, Audio source
		LargestFace  bool
		ReferenceID  string
		Engine       string  `json:",omitempty"` // absent in records of versions with only one engine
		Options      string  `json:",omitempty"` // absent in records of versions without options
		AudioRef     string  `json:",omitempty"` // absent in records of versions without segments, as is More
		More         []track `json:",omitempty"`
		WebhookURL   string  `json:",omitempty"` // absent in records of versions without webhooks
	}{
		source{p.Video.URL, p.Video.SHA256}, source{p.Audio.URL, p.Audio.SHA256},
		p.LargestFace, p.Reference(), p.Engine, p.options().Text(), p.AudioRef, more, p.webhookURL(),
	})
	return sha256.Sum256(text)
}
