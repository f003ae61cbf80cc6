// Package lipsync is the domain of the lip sync service: its requests, keys and
// uploads, the ports that its adapters implement, and the Service that holds
// every business rule.
//
// It imports nothing but the standard library and google/uuid. Time, ids and
// randomness come from outside, and the caller is an explicit argument.
package lipsync

import (
	"net/url"
	"strings"
	"time"
)

// Status is where a request stands. A request goes queued → processing →
// completed or failed, and never leaves the last two.
type Status string

// The statuses of a request.
const (
	Queued     Status = "queued"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// Statuses returns all of them, in the order in which a request has them.
func Statuses() []Status { return []Status{Queued, Processing, Completed, Failed} }

// Final reports whether nothing leaves the status.
func (s Status) Final() bool { return s == Completed || s == Failed }

// Input says where one medium of a request comes from: exactly one of URL (a
// user's http or https address) and Object (a key in Objects) is set.
type Input struct {
	URL    string `json:"url,omitempty"`
	Object string `json:"object,omitempty"`
	Name   string `json:"name,omitempty"` // of the file on the client's side, "" if the client didn't tell
}

// FileName returns what people know the medium by: the name of its file, or the last part of
// its URL; "" where there is neither.
func (i Input) FileName() string {
	if i.URL == "" {
		return i.Name
	}
	u, err := url.Parse(i.URL)
	if err != nil {
		return ""
	}
	return fileName(u.Path)
}

// host returns the host of a URL, without its port; "" for an object.
func (i Input) host() string {
	u, err := url.Parse(i.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Request is one lip sync job, as the store keeps it.
type Request struct {
	ID          string // UUID, lower case
	Account     string
	KeyID       string // the key that made it, "" if a person did
	ReferenceID string // the client's own name for it, or ""
	Status      Status

	Video, Audio Input
	// LargestFace turns active speaker detection off: the largest face of each
	// frame is synced.
	LargestFace bool
	// Engine is the name of what makes the mouths.
	Engine string

	CreatedAt  time.Time
	StartedAt  time.Time     // zero until first claimed
	FinishedAt time.Time     // zero until final
	Output     string        // object key of the result, when completed; "" once it was deleted with the media
	Poster     bool          // whether a picture of the output lies beside it
	Failure    Failure       // when failed
	Length     time.Duration // of the output, when completed; 0 if nobody told
	Size       int64         // of the output in bytes, when completed; 0 if nobody told

	VideoLength, AudioLength time.Duration // of the inputs, as the last attempt measured them; 0 if none did

	MediaDeletedAt time.Time // when its client had its media deleted; zero if never

	Claims   int // so far
	Attempts int // claims so far that were not given back
	Delays   int // claims so far that transient faults ended, or missing hosts; they are no Attempts

	// When the first of these in a row was, by kind: MediaHostMissing, MediaUnreachable
	// and MediaTooSlow, HostFailing. All are zero if the last attempt ended otherwise.
	MissingSince, UnreachableSince, FailingSince time.Time
	// Fetching is what attempts took so far that ended since a medium couldn't be fetched.
	Fetching time.Duration

	Lease      string    // token of the worker that holds it, or ""
	LeaseUntil time.Time // nobody else claims it before: the end of the lease, or of a pause between attempts
	Progress   Progress  // what that worker reported
}

// Failed reports whether the request failed by itself. One that was canceled has the status Failed
// too, but is no failure.
func (r Request) Failed() bool { return r.Status == Failed && r.Failure.Code != Canceled }

// Spent reports whether the request has had all the claims that it gets. A
// worker that holds it then makes the last attempt.
func (r Request) Spent() bool { return r.Attempts >= MaxAttempts || r.Claims-r.Delays >= MaxClaims }

// overspent reports whether the request has been claimed once too often.
func (r Request) overspent() bool { return r.Attempts > MaxAttempts || r.Claims-r.Delays > MaxClaims }

// EndDelays notes that an attempt ended otherwise than Delays have it.
func (r *Request) EndDelays() {
	r.MissingSince, r.UnreachableSince, r.FailingSince = time.Time{}, time.Time{}, time.Time{}
}

// End makes the request final.
func (r *Request) End(now time.Time, o Outcome) {
	r.Status, r.FinishedAt, r.Failure = Completed, now, o.Failure
	r.Output, r.Poster, r.Length, r.Size = o.Output, o.Poster, o.Length, o.Size
	r.VideoLength, r.AudioLength = o.VideoLength, o.AudioLength
	if o.Failure.Code != "" {
		r.Status = Failed
	}
}

// Key is an API key. The token itself is never stored.
type Key struct {
	ID        string
	Account   string
	Name      string
	Hash      [32]byte // SHA-256 of the token
	Start     string   // first characters of the token, to tell keys apart; "" of older ones
	CreatedAt time.Time
	LastUsed  time.Time // zero if never
	RevokedAt time.Time // zero while active
	Limit     int64     // generate requests it may make; 0 is unlimited
	Used      int64     // generate requests it made, except those that failed by no fault of the client
}

// MediaKind is what an input or an upload holds.
type MediaKind string

// The kinds of media.
const (
	Video MediaKind = "video"
	Audio MediaKind = "audio"
)

// Upload is a file that a client sends straight to storage, to name it as an
// input later.
type Upload struct {
	ID          string // UUID
	Account     string
	Kind        MediaKind
	Size        int64 // bytes, announced and enforced
	ContentType string
	Name        string // of the file on the client's side, "" if the client didn't tell
	Object      string // object key that the upload fills
	CreatedAt   time.Time
	ExpiresAt   time.Time // it disappears then, or when no open request uses it any more
	RequestID   string    // the newest request that uses it, or ""
	Dropped     bool      // no other request may use it
}

// Caller is who makes a call: an active key and its account, or with no key a
// person of the account, who is signed in.
type Caller struct {
	Account string
	KeyID   string
	KeyName string
}
