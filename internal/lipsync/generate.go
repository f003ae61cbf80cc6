package lipsync

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// RequestParams is what a client asks for when it makes a request.
type RequestParams struct {
	ID             string // "" for a new one; else the id that StoreMedia was called with
	Video, Audio   Source
	LargestFace    bool
	Engine         string  // one of the Service's; "" is its default
	ReferenceID    *string // nil for none
	IdempotencyKey *string // nil for none
}

// Generate accepts a request and returns its id. Of a repeated call with the
// same idempotency key it returns the first one's. Media that were stored for
// the request are discarded if it is refused or a repetition. NoSpace if there is no
// room for what the request would make.
func (s *Service) Generate(ctx context.Context, c Caller, p RequestParams) (id string, err error) {
	id, err = s.generate(ctx, c, p)
	if p.ID != "" && id != p.ID {
		// A failure here leaves an orphan, which Tidy deletes.
		_ = s.DiscardMedia(context.WithoutCancel(ctx), p.ID)
	}
	return id, err
}

func (s *Service) generate(ctx context.Context, c Caller, p RequestParams) (string, error) {
	if err := p.validate(); err != nil {
		return "", err
	}
	engine, err := s.engine(p.Engine)
	if err != nil {
		return "", err
	}
	video, audio, err := s.inputs(ctx, c, p)
	if CodeOf(err) == Invalid && p.IdempotencyKey != nil {
		// A repetition is answered as the first call was, whatever became of its uploads.
		if id, replayed := s.Requests.Replayed(ctx, c.Account, *p.idempotency(s.Now()), s.Now()); CodeOf(replayed) != NotFound {
			return id, explainReplay(replayed)
		}
	}
	if err != nil {
		return "", err
	}
	if p.ID == "" { // else there was room for media, and they are stored
		if err := s.room(0); err != nil {
			return "", err
		}
	}
	r := Request{
		ID: p.ID, Account: c.Account, KeyID: c.KeyID, ReferenceID: p.reference(), Status: Queued,
		Video: video, Audio: audio, LargestFace: p.LargestFace, Engine: engine, CreatedAt: s.Now(),
	}
	if r.ID == "" {
		r.ID = s.NewID()
	}
	return s.create(ctx, r, p)
}

// create writes the request, then tells the queue.
func (s *Service) create(ctx context.Context, r Request, p RequestParams) (string, error) {
	limits := s.limits()
	created, replayed, err := s.Requests.Create(ctx, r, p.uploads(), p.idempotency(r.CreatedAt), limits)
	switch CodeOf(err) {
	case "":
	case TokenLimit:
		return "", restate(err, TokenLimit, "token limit reached")
	case Reused:
		return "", explainReplay(err)
	case Invalid:
		return "", restate(err, Invalid, "upload does not exist")
	default:
		return "", limits.explain(err)
	}
	if !replayed {
		s.watcher().Created(created)
		// The request stands: Sweep sends again what the queue did not take.
		_ = s.Queue.Send(ctx, created.ID)
	}
	return created.ID, nil
}

// explainReplay gives an error Reused the sentence that a client is to read. It leaves any
// other as it is.
func explainReplay(err error) error {
	return restate(err, Reused, "idempotency key was used with a different request")
}

// inputs checks that the caller may use both sources, and says where they lie.
func (s *Service) inputs(ctx context.Context, c Caller, p RequestParams) (video, audio Input, err error) {
	if video, err = s.input(ctx, c, Video, p.Video); err == nil {
		audio, err = s.input(ctx, c, Audio, p.Audio)
	}
	return video, audio, err
}

// idempotency returns what is kept of the request's idempotency key, nil if it has none.
func (p RequestParams) idempotency(now time.Time) *Idempotency {
	if p.IdempotencyKey == nil {
		return nil
	}
	return &Idempotency{Key: *p.IdempotencyKey, Fingerprint: p.fingerprint(), ExpiresAt: now.Add(idempotentLife)}
}

// reference returns the reference id, "" for none.
func (p RequestParams) reference() string {
	if p.ReferenceID == nil {
		return ""
	}
	return *p.ReferenceID
}

func (p RequestParams) validate() error {
	if p.ReferenceID != nil && !validText(*p.ReferenceID) {
		return newError(Invalid, "reference_id must be 1 to 255 characters")
	}
	if p.IdempotencyKey != nil && !validText(*p.IdempotencyKey) {
		return newError(Invalid, "Idempotency-Key must be 1 to 255 characters")
	}
	return nil
}

// engine returns the name of the engine that a client asks for.
func (s *Service) engine(name string) (string, error) {
	switch {
	case name == "" && len(s.Engines) > 0:
		return s.Engines[0], nil
	case !slices.Contains(s.Engines, name):
		return "", newError(Invalid, "model must be one of: "+strings.Join(s.Engines, ", "))
	}
	return name, nil
}

// uploads returns the ids of the uploads that the request names.
func (p RequestParams) uploads() []string {
	var ids []string
	for _, source := range []Source{p.Video, p.Audio} {
		if id, ok := source.upload(); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// fingerprint covers all that the client asks for, and the endpoint by which
// it asks: stored media have a sum and no URL.
func (p RequestParams) fingerprint() [32]byte {
	type source struct {
		URL    string
		SHA256 [32]byte
	}
	text, err := json.Marshal(struct {
		Video, Audio source
		LargestFace  bool
		ReferenceID  string
		Engine       string `json:",omitempty"` // as records have it that were made before there was a choice
	}{
		source{p.Video.URL, p.Video.SHA256}, source{p.Audio.URL, p.Audio.SHA256},
		p.LargestFace, p.reference(), p.Engine,
	})
	if err != nil {
		panic(err) // strings, booleans and bytes always encode
	}
	return sha256.Sum256(text)
}
