// Package lipsync has what all parts of the lip sync service and its adapters share: the records of requests, keys,
// uploads, batches and webhooks, how a request may change, whose request is next, and the ports to the outside.
package lipsync

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// Status is the state of a request. It goes from queued to processing, and from there to completed
// or failed, which are final. A canceled request goes from queued to failed directly.
type Status string

// The statuses of a request.
const (
	Queued     Status = "queued"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// Canceled is a state of requests, and no status: that of those that their client canceled, whose status is Failed.
const Canceled = Status(failure.Canceled)

// States returns all states: the statuses in the order in which a request passes them, and Canceled. Lists select requests by them.
func States() []Status { return []Status{Queued, Processing, Completed, Failed, Canceled} }

// Final reports whether a request keeps the status for good.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Canceled }

// Input is a video or a speech track of a request. Either URL, the client's http or https address,
// or Object, a key in Objects, is set.
type Input struct {
	URL    string `json:"url,omitempty"`
	Object string `json:"object,omitempty"`
	Name   string `json:"name,omitempty"` // name of the client's file; "" if unknown
}

// FileName returns the name of the input's file or the last part of its URL, or "" if it has
// neither.
func (i Input) FileName() string {
	if i.URL == "" {
		return i.Name
	}
	u, err := url.Parse(i.URL)
	if err != nil {
		return ""
	}
	return order.BaseName(u.Path)
}

// UploadScheme begins the name of an upload as an input; its id follows.
const UploadScheme = "upload://"

// Again returns a source for the same input in another request: its URL, or its upload as
// upload://ID. It returns "" for a file of a form, which is deleted with its request.
func (i Input) Again() string {
	if id, ok := strings.CutPrefix(i.Object, UploadKeys); ok {
		return UploadScheme + id
	}
	return i.URL
}

// Kind says what a request asks for. Requests of each kind have lists, counts, limits and turns of their own.
type Kind string

// The kinds of requests.
const (
	ToRender   Kind = ""         // an output
	ToAnalyze  Kind = "analysis" // an Analysis of its video
	ToEstimate Kind = "estimate" // an Estimate of itself
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{ToRender, ToAnalyze, ToEstimate} }

// Request is a lip sync job, as the store keeps it: one video and its speech to render, and its
// state.
type Request struct {
	ID          string // UUID, lower case
	Account     string
	Kind        Kind
	KeyID       string // the key that made it; "" if a person made it in the dashboard
	CallID      string // the id of the call that made it or its batch, for logs; "" if that was in the dashboard
	ReferenceID string // the client's own name for it; may be ""
	Status      Status
	Class       Class

	Video, Audio Input  // Audio is zero for an analysis
	Tracks       Tracks // further speech tracks, for segments
	// LargestFace turns off the search for the active speaker. The service then syncs the largest
	// face of each frame.
	LargestFace bool
	// Engine is the name of the engine that makes the mouths.
	Engine  string
	Options order.Options
	Targets Targets // webhooks that get its events

	CreatedAt  time.Time
	StartedAt  time.Time       // zero until first claimed
	FinishedAt time.Time       // zero until final
	Output     string          // object key of the output, if completed; "" after the media were deleted
	Poster     bool            // whether the output has a poster
	Failure    failure.Failure // reason, if failed; details of the last delay, without a code, if not
	Length     time.Duration   // length of the output, if completed; 0 if unknown
	Size       int64           // size of the output in bytes, if completed; 0 if unknown
	Frames     order.Frames    // of the output, if completed; zero if unknown
	Unsynced   order.Unsynced  // parts of the output
	Warnings   order.Warnings  // about the call and the output
	Sync       order.SyncScore // of the output

	VideoLength, AudioLength time.Duration // lengths of the inputs, as the last attempt measured them; 0 if unknown

	// VideoSum is the SHA-256 of the video, if findings about it were kept or used; zero otherwise.
	VideoSum [sha256.Size]byte

	MediaDeletedAt time.Time // when the client deleted the media; zero if never

	Claims   int // number of claims
	Attempts int // number of claims without releases and delays
	Delays   int // number of claims that a transient fault or a missing host ended; they do not count in Attempts

	// MissingSince, UnreachableSince and FailingSince are the times of the first delay in a row: by
	// MediaHostMissing or UploadHostMissing; by MediaUnreachable, MediaTooSlow or UploadUnreachable;
	// and by HostFailing. All are zero if
	// the last attempt was not delayed.
	MissingSince, UnreachableSince, FailingSince time.Time
	// Fetching is the total time of the attempts that ended because an input could not be fetched,
	// or the output not be sent.
	Fetching time.Duration

	Lease      string    // token of the worker that holds it; "" if none does
	LeaseUntil time.Time // end of the lease or of a pause between attempts; no other worker claims it before
	Progress   Progress  // last report of that worker
}

// IsAnalysis reports whether the request asks for an Analysis of its video, and not for an output.
func (r Request) IsAnalysis() bool { return r.Kind == ToAnalyze }

// IsEstimate reports whether the request asks for an Estimate of itself, and not for an output.
func (r Request) IsEstimate() bool { return r.Kind == ToEstimate }

// Failed reports whether the request failed and was not canceled. A canceled request also has the
// status Failed.
func (r Request) Failed() bool { return r.State() == Failed }

// State returns the status of the request, or Canceled.
func (r Request) State() Status {
	if r.Failure.Code == failure.Canceled {
		return Canceled
	}
	return r.Status
}

// Spent reports whether the request has used up its claims. If a worker holds it, that worker makes
// the last attempt.
func (r Request) Spent() bool { return r.Attempts >= MaxAttempts || r.Claims-r.Delays >= MaxClaims }

// Overspent reports whether the request has been claimed more often than it may be.
func (r Request) Overspent() bool { return r.Attempts > MaxAttempts || r.Claims-r.Delays > MaxClaims }

// Reason says why the request failed or waits, as far as that is known beside the sentence of its failure. It is "" for one that completed.
func (r Request) Reason() string {
	reason := r.Failure.Cause
	switch {
	case r.Status == Completed:
		return ""
	case r.Status.Final() || r.Delays == 0:
		return reason
	case r.Lease == "":
		tried := "once"
		if r.Claims != 1 {
			tried = fmt.Sprintf("%d times", r.Claims)
		}
		reason += "; tried " + tried + ", retry at " + r.LeaseUntil.UTC().Format(time.RFC3339)
	default:
		reason += fmt.Sprintf("; retrying: try %d is under way", r.Claims)
	}
	return strings.TrimPrefix(reason, "; ")
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

// Unsigned reports whether the request's output has no signed manifest although the service signs outputs and this one can be signed.
func (r Request) Unsigned() bool {
	return r.Options.Output.Signable() && r.Size <= order.MostSigned && r.warned(order.NotSigned)
}

// Provenance returns the standard of the output's signed manifest, c2pa, or "" if it has none.
func (r Request) Provenance() string {
	if r.warned(order.Signed) {
		return "c2pa"
	}
	return ""
}

func (r Request) warned(w order.Warnings) bool {
	return slices.Contains(strings.Fields(string(r.Warnings)), string(w))
}

// Key is an API key. The token itself is never stored.
type Key struct {
	ID        string
	Account   string
	Name      string
	Hash      [32]byte // SHA-256 of the token
	Start     string   // first characters of the token, to tell keys apart
	CreatedAt time.Time
	LastUsed  time.Time // zero if never
	RevokedAt time.Time // zero while it isn't revoked
	ExpiresAt time.Time // zero if it has no end
	ReadOnly  bool      // it may only make calls that change nothing
	Limit     int64     // number of requests that it may make; 0 means unlimited
	Used      int64     // number of requests that it made, without those that failed through no fault of the client
}

// Active reports whether the key may be used at a time.
func (k Key) Active(at time.Time) bool { return k.Ended(at).IsZero() }

// Ended returns when the key was revoked or expired, and zero if it may still be used at a time.
func (k Key) Ended(at time.Time) time.Time {
	if !k.ExpiresAt.IsZero() && !at.Before(k.ExpiresAt) && (k.RevokedAt.IsZero() || k.ExpiresAt.Before(k.RevokedAt)) {
		return k.ExpiresAt
	}
	return k.RevokedAt
}

// Upload is a file that a client announces, sends to a signed URL, and names as an input later.
type Upload struct {
	ID          string // UUID
	Account     string
	Kind        failure.MediaKind
	Size        int64 // announced size in bytes; the file must have it
	ContentType string
	Name        string // name of the client's file; "" if unknown
	Object      string // object key of the file
	CreatedAt   time.Time
	ExpiresAt   time.Time // it is deleted after this time, once no open request uses it and no line of a batch waits to use it
	RequestID   string    // newest request that uses it; may be ""
	Dropped     bool      // true if no new request may use it
}

// SendableUntil returns the time until which the signed URL takes the upload's bytes.
func (u Upload) SendableUntil() time.Time { return u.CreatedAt.Add(time.Hour) }

// Caller is the author of a call: an active key and its account, or, without a key, a person of the
// account who is signed in.
type Caller struct {
	Account  string
	KeyID    string
	KeyName  string
	ReadOnly bool   // see Key
	CallID   string // as the call's answer has it in X-Request-Id; "" in the dashboard
}

// ParseID returns the id that a client wrote, in small letters. ok is false if it is none.
func ParseID(text string) (id string, ok bool) {
	parsed, err := uuid.Parse(text)
	id = parsed.String()
	return id, err == nil && len(text) == len(id) // uuid.Parse also reads other forms
}
