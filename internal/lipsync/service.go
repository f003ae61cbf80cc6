package lipsync

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Service holds every business rule. Its fields are set once, before use.
type Service struct {
	Store   Store
	Objects Objects
	Queue   Queue
	Now     func() time.Time
	NewID   func() string // a new UUID
	Random  io.Reader     // cryptographic randomness

	GenerateRate, ReadRate int // calls a minute for a key
}

// The signatures that package rest is written against; bodies follow.

// CallKind is a group of calls that shares a rate.
type CallKind string

const (
	GenerateCall CallKind = "generate"
	ReadCall     CallKind = "read"
)

// NewRequest is what a client asks for: each source is an URL or one of our uploads.
type NewRequest struct {
	ID             string // "" for a new one; else the id that StoreMedia was called with
	Video, Audio   Source
	LargestFace    bool
	ReferenceID    string
	HasReferenceID bool
	IdempotencyKey string
	HasIdempotency bool
}

// Source is one medium as the client names it.
type Source struct {
	URL    string   // http, https or upload://ID
	Object string   // stored by StoreMedia
	SHA256 [32]byte // of the stored object, for the idempotency fingerprint
}

func (s *Service) Authenticate(ctx context.Context, token string) (Caller, error) { panic("todo") }
func (s *Service) Allow(ctx context.Context, c Caller, kind CallKind) error       { panic("todo") }
func (s *Service) NewRequestID() string                                           { panic("todo") }
func (s *Service) StoreMedia(ctx context.Context, requestID string, kind MediaKind, r io.Reader) (Source, error) {
	panic("todo")
}
func (s *Service) DiscardMedia(ctx context.Context, requestID string) error { panic("todo") }
func (s *Service) Generate(ctx context.Context, c Caller, n NewRequest) (id string, err error) {
	panic("todo")
}
func (s *Service) Request(ctx context.Context, c Caller, idOrReference string) (Request, *url.URL, error) {
	panic("todo")
}

// Page is one page of a list.
type Page struct {
	Requests []Request
	Outputs  []*url.URL // beside Requests; nil where there is none
	Total    int64
}

func (s *Service) RequestPage(ctx context.Context, c Caller, referenceID string, offset int64, limit int) (Page, error) {
	panic("todo")
}

// SignedUpload is an upload and where its bytes go.
type SignedUpload struct {
	Upload
	PutURL  *url.URL
	Headers http.Header
	Source  string // upload://ID, to name as an input
}

func (s *Service) CreateUpload(ctx context.Context, c Caller, kind MediaKind, size int64, contentType string) (SignedUpload, error) {
	panic("todo")
}
