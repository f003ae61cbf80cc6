package lipsync

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Every port's method is safe for concurrent use, may be retried by the caller
// after an error, and returns *Error for what its comment names; any other
// error means that the outcome is not known.

// Requests is the truth about requests.
type Requests interface {
	// Create writes the request, one use of the key (if KeyID is not "") and the
	// idempotency record in one transaction. Once it returns, the request is the newest
	// in the lists of its account and reference id.
	//
	// If idem is not nil and its key was used in this account before it
	// expired, nothing is written: with the same fingerprint the earlier
	// request is returned with replayed true; with another one, Reused. The
	// idempotency record is looked at before the limit, so that a replay
	// succeeds on a spent key. A key whose Limit is used up: TokenLimit.
	//
	// If the account has as many open requests as limits allow: OpenLimit. If its
	// stored bytes are as many: StorageLimit. Stored bytes are the Size of each upload
	// until it is deleted, announced ones too, and that of each output for limits.Keep.OutputDays from
	// the day of CreatedAt.
	//
	// An upload that the request names (uploads) and that is gone or Dropped: Invalid;
	// the others get its id as RequestID, and expire limits.Keep.InputLife after CreatedAt.
	Create(ctx context.Context, r Request, uploads []string, idem *Idempotency, limits Limits) (created Request, replayed bool, err error)

	// ByID returns a request of any account by its id, strongly consistent.
	// NotFound if there is none.
	ByID(ctx context.Context, id string) (Request, error)

	// ByReference returns the newest request of the account with the reference id,
	// strongly consistent. NotFound if there is none.
	ByReference(ctx context.Context, account, referenceID string) (Request, error)

	// List returns the account's requests, newest first, skipping offset and at
	// most limit of them, and how many there are; only those with the
	// reference id, if it is not "". A Create that returned before is there, in the order
	// in which they returned. The lease and Progress may be missing. Cost depends only on limit.
	List(ctx context.Context, account, referenceID string, offset int64, limit int) ([]Request, int64, error)

	// ListByStatus returns the page of requests that the query asks for, newest first, and how many
	// there are on all pages together, at most q.Count. What changed a moment ago may be missing.
	// Cost depends only on q.Offset, q.Limit and q.Count, and, of open requests with a reference
	// id, on how many are open.
	ListByStatus(ctx context.Context, q StatusQuery) (page []Request, total int, err error)

	// Replayed returns the id of the request that the idempotency key made in the account,
	// as Create would at now. NotFound if it was not used before; Reused.
	Replayed(ctx context.Context, account string, idem Idempotency, now time.Time) (id string, err error)

	// Uses reports whether an open request of the account has the object as an input.
	// What changed a moment ago may be missing.
	Uses(ctx context.Context, account, object string) (bool, error)

	// ForgetMedia notes that the media of a final request were deleted: MediaDeletedAt
	// is now, there is no Output and no Poster, and its Size no longer counts as stored. It returns the
	// request as it is stored. One that was noted before stays as it is. Conflict if it is
	// not final, NotFound if there is none.
	ForgetMedia(ctx context.Context, id string, now time.Time) (Request, error)

	// Usage returns a Day for each of the last days (UTC) up to the one of now,
	// oldest first. Cost depends only on the number of days.
	Usage(ctx context.Context, account string, now time.Time, days int) ([]Day, error)
}

// StatusQuery asks for a page of an account's requests of one status.
type StatusQuery struct {
	Account     string
	Status      Status
	ReferenceID string // "" for any
	Before      string // id of a request: only older ones; "" for all
	Offset      int    // how many to skip
	Limit       int    // how many to return at most
	// Count is how many are counted at most; the list ends there. 0 counts none, and the list has
	// no such end.
	Count int
}

// Outcome is how a request ended: it completed with Output, or failed.
type Outcome struct {
	Output  string        // object key
	Poster  bool          // whether a picture of the output lies beside it
	Length  time.Duration // of the output, in microseconds
	Size    int64         // of the output, in bytes
	Failure Failure       // zero if it completed

	VideoLength, AudioLength time.Duration // of the inputs, in microseconds; 0 if nobody measured them
}

// Free reports whether the request failed by no fault of its client: it then is no
// use of the key.
func (o Outcome) Free() bool { return o.Failure.Code != "" && o.Failure.Code.Class() != OfInput }

// Day is what became of the requests that an account made on one day.
type Day struct {
	Requests int64
	Failed   int64         // except those that were canceled
	Output   time.Duration // of all outputs together
}

// Idempotency is what makes a repeated create harmless.
type Idempotency struct {
	Key         string   // the client's, unique within the account
	Fingerprint [32]byte // of everything that the request asks for
	ExpiresAt   time.Time
}

// Leases hands requests out to workers. Every change is a compare-and-swap on
// the state that it names. Progress is of the lease: all changes but Renew and
// Report leave none.
type Leases interface {
	// Claim leases one request until now+lease: the one with the id, or for ""
	// the next open one. Open means queued or processing, and with a LeaseUntil
	// that is not after now. Next is the oldest of the account with the fewest
	// requests that have a Lease at now; of several such accounts it is the one whose last
	// claim is the longest ago, as far as it is known, and else the oldest request of all.
	// It becomes processing, StartedAt is set the first time, Claims and Attempts grow by
	// one, Lease is the token. One that had a Lease, which ran out, has its delays ended.
	// NotFound if there is nothing to claim (for an id: unknown, final or leased).
	Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (Request, error)

	// Renew moves the end of a held lease. Conflict if the token no longer
	// holds the request.
	Renew(ctx context.Context, id, token string, until time.Time) error

	// Report sets the Progress of a held request. Conflict if the token no
	// longer holds it.
	Report(ctx context.Context, id, token string, p Progress) error

	// Release gives a held request back, to be claimed at once: no lease, Attempts
	// one less, Claims as they were, and its delays ended.
	// Conflict if the token no longer holds the request.
	Release(ctx context.Context, id, token string) error

	// Postpone gives a held request back, and nobody may claim it before until. It
	// takes Attempts, Delays, the times of these and Fetching from r, which also names
	// the request and its lease. Conflict if that no longer holds the request.
	Postpone(ctx context.Context, r Request, until time.Time) error

	// PutOff returns up to limit requests that nobody holds and that were put off until a
	// time later than after, those first that may be claimed soonest.
	PutOff(ctx context.Context, after time.Time, limit int) ([]Request, error)

	// EndPause lets a request be claimed from now on that was put off until r.LeaseUntil.
	// Conflict if that is no longer so.
	EndPause(ctx context.Context, r Request, now time.Time) error

	// Finish makes a held request final, and gives its key back the use if the
	// outcome is Free. Conflict if the token no longer holds it.
	Finish(ctx context.Context, id, token string, now time.Time, o Outcome) error

	// Cancel makes an open request failed with the failure f, whoever holds it, and returns it as it is stored. StartedAt is set to now
	// if it was never claimed. Conflict if it is final already, NotFound if
	// there is none.
	Cancel(ctx context.Context, id string, now time.Time, f Failure) (Request, error)

	// Open returns up to limit requests that are claimable at now, oldest
	// first, for the sweep. Where many more are, these may be others than the oldest
	// of all: cost depends only on limit.
	Open(ctx context.Context, now time.Time, limit int) ([]Request, error)

	// Upkeep does what claims leave undone, so that each of them costs little. The sweep
	// calls it. It changes nothing that can be seen here, and may run at any time.
	Upkeep(ctx context.Context, now time.Time) error
}

// Keys keeps API keys.
type Keys interface {
	// Create writes a new key.
	Create(ctx context.Context, k Key) error
	// ByHash returns the key, revoked or not. NotFound if there is none. Used may have
	// uses that were given back.
	ByHash(ctx context.Context, hash [32]byte) (Key, error)
	// Touch sets LastUsed if at is later; an unknown id is no error.
	Touch(ctx context.Context, id string, at time.Time) error
	// List returns the account's keys, oldest first; all accounts' for "".
	List(ctx context.Context, account string) ([]Key, error)
	// Revoke sets RevokedAt once. NotFound for an unknown id, or one of
	// another account where account is not "".
	Revoke(ctx context.Context, account, id string, at time.Time) error
}

// Uploads keeps what clients announced to send.
type Uploads interface {
	// Create writes the upload. If with it the account's stored bytes were
	// more than limits allow: StorageLimit; see Requests.Create.
	Create(ctx context.Context, u Upload, limits Limits) error
	// ByID returns the upload of any account. NotFound if there is none.
	ByID(ctx context.Context, id string) (Upload, error)
	// Expired returns up to limit uploads with ExpiresAt before now,
	// used or not, ordered by ExpiresAt and then by ID. It begins behind the upload
	// after, whether that is still there or not; the zero Upload is the beginning.
	Expired(ctx context.Context, now time.Time, after Upload, limit int) ([]Upload, error)
	// Drop makes the upload Dropped, to expire at the given time. Conflict if
	// another request than u.RequestID, which is not "", is the newest that uses it. One
	// that is gone is no error.
	Drop(ctx context.Context, u Upload, expires time.Time) error
	// Delete forgets the upload; one that is gone is no error.
	Delete(ctx context.Context, u Upload) error
}

// Rates counts calls against a limit for each name (a key and kind of call).
type Rates interface {
	// Take takes one of limit calls a minute. It returns 0 if the call may go
	// on, else how long until one may, and then counts nothing. Concurrent
	// takes never let more than limit through in any minute that starts with
	// none taken.
	Take(ctx context.Context, name string, limit int, now time.Time) (time.Duration, error)
}

// Store is what one database keeps. Any method of its ports may return RateLimited, in the
// words for a client: others change the same records all the time, and nothing was done.
type Store struct {
	Requests Requests
	Leases   Leases
	Keys     Keys
	Uploads  Uploads
	Rates    Rates
}

// Objects keeps media files under slash-separated keys.
type Objects interface {
	// Put stores size bytes of r under the key (size -1: all of r), whole or
	// not at all, replacing what was there. An error of r stays in the chain, and
	// so does that of ctx, with which it ends soon whatever the size.
	Put(ctx context.Context, key string, r io.Reader, size int64) error
	// Open returns the object's bytes and their number. NotFound if none.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// Size returns the number of bytes. NotFound if there is no such object.
	Size(ctx context.Context, key string) (int64, error)
	// Delete removes the object; a missing one is no error.
	Delete(ctx context.Context, key string) error
	// DeleteAll removes the objects whose keys start with prefix, which ends with a
	// slash, and what was stored of others there that never became whole.
	DeleteAll(ctx context.Context, prefix string) error
	// List calls f for each object whose key starts with prefix, in no order,
	// until f returns an error, which it then returns. f may delete the object.
	List(ctx context.Context, prefix string, f func(key string, modified time.Time) error) error
	// SignGet returns an URL that serves the object to anyone until the time,
	// under the download file name. It may be relative to the service's host.
	SignGet(ctx context.Context, key, name string, until time.Time) (*url.URL, error)
	// SignPut returns an URL that takes exactly size bytes by PUT until the
	// time, and the headers that the client must send with them. It may be
	// relative to the service's host.
	SignPut(ctx context.Context, key string, size int64, contentType string, until time.Time) (*url.URL, http.Header, error)
}

// Queue tells workers that a request waits. It is only a hint: a message may
// come twice, late or never, and the store is the truth.
type Queue interface {
	Send(ctx context.Context, id string) error
}

// Pool is the workers of a home where none stands ready. Each claims what waits, goes on while
// there is some, and then leaves.
type Pool interface {
	// Count returns how many workers were started and do not run yet, and how many run. Those
	// that were started, or ended, a moment ago may be missing, or still be there.
	Count(ctx context.Context) (waiting, running int, err error)
	// Start starts n workers, at least one.
	Start(ctx context.Context, n int) error
}

// Demand is what a home with a Pool keeps in order to know how many workers it needs.
type Demand interface {
	// Waiting returns how many requests may be claimed at now, at most limit. What changed
	// a moment ago may be missing, and so may, until the next Upkeep, what is held by a lease
	// that ended. Cost depends only on limit.
	Waiting(ctx context.Context, now time.Time, limit int) (int, error)
	// TakeTurn lets the caller, and nobody else, start workers until the time. It returns the
	// mean of what Worked was told of some hundreds of requests or more, the last ones; 0 if it
	// was told nothing. While another has the turn: Conflict, with RetryAfter.
	TakeTurn(ctx context.Context, now, until time.Time) (mean time.Duration, err error)
	// Worked notes that a worker had a request for so long, done or not. It returns the sum of
	// these times of all workers, ever.
	Worked(ctx context.Context, took time.Duration) (all time.Duration, err error)
}
