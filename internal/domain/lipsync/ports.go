package lipsync

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// The methods of every port are safe for concurrent use. The caller may retry a method after an
// error. A method returns an *Error with one of the codes that its comment names; any other error
// means that the outcome is not known.

// Requests stores requests. Its lists and counts, and those of open requests and stored bytes by which it limits a request ToRender, have requests
// ToRender only. Requests of another kind are limited by the counts of that kind.
//
// Requests that are Listed lack what only a single request shows, since that may be large: Tracks, Targets, Unsynced, and of Options all but the name
// of the output's file. The lease and Progress may be missing.
type Requests interface {
	// Create writes the request, one use of the key (if KeyID is not "") and the idempotency record
	// in one transaction. Once Create returns, the request is the newest one in the lists of its
	// account and of its reference id.
	//
	// If idem is not nil and the account used its key before and that record has not expired,
	// Create writes nothing. With the same fingerprint it returns the earlier request, or only its ID if it was erased, and sets
	// replayed; with another fingerprint it returns Reused. Create checks the idempotency record
	// before the key's limit, so a replay succeeds even if the key has no calls left. Create
	// returns TokenLimit if the key's Limit is used up.
	//
	// Create resolves r.Targets by the account's webhooks: see Request.Created, whose errors it
	// returns.
	//
	// Create returns OpenLimit if the account has as many open requests as limits allow, and
	// StorageLimit if it stores as many bytes as limits allow. An upload counts with its Size from
	// its announcement until it is deleted. An output counts with its Size for
	// limits.Keep.OutputDays, beginning with the day of CreatedAt, and a record with its RecordSize for limits.Keep.RecordDays,
	// or up to 32 days longer.
	//
	// The argument uploads has the ids of the uploads that the request names. Create returns
	// Invalid if one of them is deleted or Dropped. Otherwise it sets their RequestID to the
	// request's id, and they expire limits.Keep.InputLife after CreatedAt.
	Create(ctx context.Context, r Request, uploads []string, idem *Idempotency, limits Limits) (created Request, replayed bool, err error)

	// ByID returns the request with the id, of any account. The read is strongly consistent. ByID
	// returns NotFound if there is no such request.
	ByID(ctx context.Context, id string) (Request, error)

	// ByReference returns the newest request of the account with the reference id. The read is
	// strongly consistent. ByReference returns NotFound if there is no such request.
	ByReference(ctx context.Context, account, referenceID string) (Request, error)

	// List returns a page of the account's requests, newest first, and the number of requests on
	// all pages. It skips offset requests and returns at most limit. If referenceID is not "", it
	// lists only the requests with that reference id. The list has every request whose Create has
	// returned, in the order in which they returned. They are Listed. The
	// cost depends only on limit. Erased requests keep their places, so a page may have fewer than limit, and the number may count them.
	List(ctx context.Context, account, referenceID string, offset int64, limit int) ([]Request, int64, error)

	// ListByStatus returns a page of requests of a State, newest first, and the number of requests on all
	// pages, at most q.Count. They are Listed. The last changes may be missing. The cost depends only on q.Offset,
	// q.Limit and q.Count; for open requests with a reference id it also depends on the number of
	// open requests.
	ListByStatus(ctx context.Context, q StatusQuery) (page []Request, total int, err error)

	// ListFrom returns the requests of a list from a place on, newest first, and the place after them, "" if the list ends there. They are
	// Listed, and fewer than q.Limit if some were erased. New requests move no place, nor do erased ones. Of requests with one status the last
	// changes may be missing. ListFrom returns Invalid for a text that is no place.
	ListFrom(ctx context.Context, q PlaceQuery) (page []Request, next string, err error)

	// Several returns the requests with the ids, in any order, without those that don't exist. They are Listed. The reads are strongly
	// consistent.
	Several(ctx context.Context, ids []string) ([]Request, error)

	// Replayed returns the id of the request that the idempotency key made in the account, as
	// Create would at now. It returns NotFound if the key was not used before, and Reused if its
	// fingerprint differs.
	Replayed(ctx context.Context, account string, idem Idempotency, now time.Time) (id string, err error)

	// Erase deletes the record of the request, and what it counts among the bytes that the account stores. Usage still counts the request.
	// Erase returns Conflict if the request isn't final, or if its media weren't deleted. A missing request is no error.
	Erase(ctx context.Context, id string) error

	// Expire deletes the records of requests that ended before the time, some thousands at least, and returns their number. The store may also
	// delete them by itself, RecordLife after their end, with the retention of their Create.
	Expire(ctx context.Context, before time.Time) (int, error)

	// Uses reports whether an open request of the account, of any kind, has the object as an input. The last
	// changes may be missing.
	Uses(ctx context.Context, account, object string) (bool, error)

	// Usage returns a Day for each of the last days (UTC), oldest first. The last Day is the day of
	// now. The cost depends only on the number of days.
	Usage(ctx context.Context, account string, now time.Time, days int) ([]Day, error)

	// Stored returns the number of bytes that the account stores at now, as Create counts them for
	// StorageLimit. The cost depends only on keep.
	Stored(ctx context.Context, account string, now time.Time, keep Retention) (int64, error)
}

// StatusQuery selects a page of an account's requests of one kind with one State.
type StatusQuery struct {
	Account     string
	Kind        Kind
	Status      Status // State of the requests
	ReferenceID string // "" selects any
	Offset      int    // number of requests to skip
	Limit       int    // largest number of requests to return
	Count       int    // largest number of requests to count; the list ends after that many, and is empty if it is 0
}

// PlaceQuery selects a part of a list of an account's requests.
type PlaceQuery struct {
	Account     string
	Kind        Kind   // other than ToRender only with a Status, else ListFrom returns an error
	Status      Status // State of the requests; "" selects any
	ReferenceID string // "" selects any
	Place       string // as ListFrom returned it for the same list; "" is the begin
	Limit       int    // largest number of requests to return
}

// Check returns an error if there is no such list.
func (q PlaceQuery) Check() error {
	if q.Kind != ToRender && q.Status == "" {
		return fmt.Errorf("no list has each %s of an account: a status is missing", q.Kind)
	}
	return nil
}

// Outcome says how a request ended: it completed with Output, or failed.
type Outcome struct {
	Output   string          // object key
	Poster   bool            // whether the output has a poster
	Length   time.Duration   // of the output, to the microsecond
	Size     int64           // of the output, in bytes
	Frames   order.Frames    // of the output
	Unsynced order.Unsynced  // parts of the output
	Warnings order.Warnings  // about the output
	Sync     order.SyncScore // of the output, to a thousandth
	Failure  failure.Failure // zero if it completed

	VideoLength, AudioLength time.Duration // of the inputs, to the microsecond; 0 if nobody measured them
}

// Day counts the requests that an account made on one day (UTC).
type Day struct {
	Requests int64
	Failed   int64         // without canceled requests
	Output   time.Duration // total length of the outputs
}

// Idempotency lets a store recognise a repeated Create.
type Idempotency struct {
	Key         string   // the client's, unique within the account
	Fingerprint [32]byte // SHA-256 of everything that the request asks for
	ExpiresAt   time.Time
}

// Leases gives requests to workers, and changes them. Every change is a compare-and-swap. Progress belongs to the lease: claims and
// transitions that end the lease clear it.
type Leases interface {
	// Claim leases one request until now+lease: the request with the id, or the next claimable
	// request of the choice if id is "". See Request.Claimed, and Change for what else it writes. The next request is the oldest claimable request of the choice of
	// the account whose Turn it is.
	// Claim returns NotFound if there is nothing to claim; a request with the id may be unknown, final or leased.
	Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from Choice) (Request, error)

	// Renew sets the end of a held lease. It returns Conflict if the token no longer holds the
	// request.
	Renew(ctx context.Context, id, token string, until time.Time) error

	// Report sets the Progress of a held request. It returns Conflict if the token no longer holds
	// the request.
	Report(ctx context.Context, id, token string, p Progress) error

	// NoteVideo sets the VideoSum of a held request. It returns Conflict if the token no longer holds the
	// request.
	NoteVideo(ctx context.Context, id, token string, sum [32]byte) error

	// Change replaces the request with the id by the result of the transition, and returns what it stored. If the transition returns an
	// error, Change writes nothing and returns the error; if there is no such request, the transition gets the zero one. It may be
	// called several times. Change also adds the deliveries that Request.News returns, and gives back a use of the key if
	// Request.GivesBack says so, in the same transaction.
	Change(ctx context.Context, id string, t Transition) (Request, error)

	// Postponed returns up to limit requests that no worker holds and that are postponed until a time
	// after the argument after. The list begins with the requests that can be claimed soonest.
	Postponed(ctx context.Context, after time.Time, limit int) ([]Request, error)

	// Open returns up to limit requests that are claimable at now, oldest first. The sweep uses it.
	// If many more requests are claimable, the result may lack the oldest ones, because the cost
	// depends only on limit.
	Open(ctx context.Context, now time.Time, limit int) ([]Request, error)

	// Contest returns what decides when workers claim the request r, of which it uses ID, Account, Kind, Class and CreatedAt. If r is not stored, it
	// counts as the newest request. It counts claimable requests of the classes only. Numbers of claimable requests are at most limit. The cost depends only on limit and the number of
	// accounts. SQLite is exact. DynamoDB is exact while few requests are open; the last changes may be missing.
	Contest(ctx context.Context, r Request, among []Class, now time.Time, limit int) (Contest, error)

	// Upkeep does work that claims leave for later to keep their cost low. The sweep calls it. Its
	// effect is not visible through the methods of this interface. It may run at any time.
	Upkeep(ctx context.Context, now time.Time) error
}

// Keys stores API keys.
type Keys interface {
	// Create writes a new key.
	Create(ctx context.Context, k Key) error
	// ByHash returns the key, revoked or not, or NotFound. Used may still count requests that
	// failed through no fault of the client.
	ByHash(ctx context.Context, hash [32]byte) (Key, error)
	// Touch sets LastUsed to at if at is later. An unknown id is not an error.
	Touch(ctx context.Context, id string, at time.Time) error
	// List returns the account's keys, oldest first. If account is "", it returns the keys of all
	// accounts.
	List(ctx context.Context, account string) ([]Key, error)
	// Revoke sets RevokedAt; a second call changes nothing. It returns NotFound if the id is
	// unknown, or if account is not "" and the key belongs to another account.
	Revoke(ctx context.Context, account, id string, at time.Time) error
}

// Uploads stores the uploads that clients announced.
type Uploads interface {
	// Create writes the upload. It returns StorageLimit if the account would then store more bytes
	// than limits allow; see Requests.Create.
	Create(ctx context.Context, u Upload, limits Limits) error
	// ByID returns the upload with the id, of any account, or NotFound.
	ByID(ctx context.Context, id string) (Upload, error)
	// Expired returns up to limit uploads with ExpiresAt before now, used or not, ordered by
	// ExpiresAt and then by ID. The list begins after the upload after, which may have been deleted
	// since; the zero Upload starts from the beginning.
	Expired(ctx context.Context, now time.Time, after Upload, limit int) ([]Upload, error)
	// Drop sets the upload to Dropped and its ExpiresAt to expires. It returns Conflict if the
	// stored RequestID is not "" and not u.RequestID: a newer request uses the upload. A deleted
	// upload is not an error.
	Drop(ctx context.Context, u Upload, expires time.Time) error
	// Delete deletes the record of the upload. A deleted upload is not an error.
	Delete(ctx context.Context, u Upload) error
}

// Rates counts calls and limits them for each name, which stands for a key and a kind of call.
type Rates interface {
	// Take counts one call with the name, of which limit are allowed per minute, unless it is
	// refused. In any minute that starts with no counted calls, concurrent calls of Take allow at
	// most limit.
	Take(ctx context.Context, name string, limit int, now time.Time) (Allowance, error)
}

// Allowance says what is left of a rate after a call.
type Allowance struct {
	Refused bool
	Left    int           // calls that are allowed until the rate's minute ends; of a large limit an estimate
	Resets  time.Duration // until that minute ends
}

// Refusal returns RateLimited if the call is refused.
func (a Allowance) Refusal() error {
	if !a.Refused {
		return nil
	}
	return failure.RateLimit(a.Resets, nil)
}

// Speeds stores how fast the engines are.
type Speeds interface {
	// Note adds the Speed of a request to that of its engine and class. If it then has the sums of more than RecentWork requests, Note halves them.
	Note(ctx context.Context, engine string, c Class, s Speed) error
	// All returns the Speed of each engine and class for which Note was called.
	All(ctx context.Context) (Measured, error)
}

// Store has the ports of one database. Each of their methods may return RateLimited, with a message
// for the client, if too many other calls change the same records; the method then changed nothing.
type Store struct {
	Requests Requests
	Leases   Leases
	Keys     Keys
	Uploads  Uploads
	Rates    Rates
	Webhooks Webhooks
	Speeds   Speeds
	Batches  Batches
	Calls    Calls
}

// Batches stores batches. Reads by id are strongly consistent.
type Batches interface {
	// Create writes a new batch. It returns Conflict if there is one with the id, and else BatchLimit if the account has as many
	// batches that aren't finished as limits allow. The record counts among the bytes that the account stores as that of a request.
	Create(ctx context.Context, b Batch, limits Limits) error
	// ByID returns the batch with the id, of any account, or NotFound.
	ByID(ctx context.Context, id string) (Batch, error)
	// Swap stores b's Lines, CanceledAt and FinishedAt, and adds one to Version. It adds the deliveries that b.News returns, in the same
	// transaction. It returns Conflict if there is no such batch with b.Version.
	Swap(ctx context.Context, b Batch) error
	// List returns up to limit batches of the account, newest first: those that are older than the batch before, of which it uses ID and
	// CreatedAt, or all if before is zero. The last changes may be missing.
	List(ctx context.Context, account string, before Batch, limit int) ([]Batch, error)
	// Unfinished returns up to limit batches whose FinishedAt is zero, oldest first: those that are younger than the batch after, of which
	// it uses ID and CreatedAt, or all if after is zero. The last changes may be missing.
	Unfinished(ctx context.Context, after Batch, limit int) ([]Batch, error)
	// Count returns the number of the account's batches that aren't finished.
	Count(ctx context.Context, account string) (int, error)
	// Erase deletes the record of a finished batch, and what it counts among the bytes that the account stores. One that isn't finished stays. Neither that nor a missing batch is an error.
	Erase(ctx context.Context, id string) error
	// Expire deletes the records of batches that finished before the time, as Requests.Expire does.
	Expire(ctx context.Context, before time.Time) (int, error)
}

// Webhooks stores the webhooks of accounts, and the deliveries of events to them. Reads by account and
// by id are strongly consistent.
type Webhooks interface {
	// Of returns the account's webhooks.
	Of(ctx context.Context, account string) (AccountWebhooks, error)
	// Put replaces the account's webhooks, and adds one to Version. It returns Conflict if the stored
	// Version is no longer a.Version.
	Put(ctx context.Context, a AccountWebhooks) error
	// All returns the webhooks of all accounts that have any. The last changes may be missing.
	All(ctx context.Context) ([]AccountWebhooks, error)

	// Add writes a new delivery. A delivery with the same webhook and id is left as it is.
	Add(ctx context.Context, d Delivery) error
	// Delivery returns the delivery to the webhook with the id, or NotFound.
	Delivery(ctx context.Context, webhook, id string) (Delivery, error)
	// Swap replaces the delivery, and adds one to Version. It returns Conflict if there is no such
	// delivery with d.Version.
	Swap(ctx context.Context, d Delivery) error
	// Drop deletes the delivery. A missing one is no error.
	Drop(ctx context.Context, d Delivery) error
	// Due returns up to limit pending deliveries to the webhook whose Due is not after now, the
	// earliest first. The last changes may be missing.
	Due(ctx context.Context, webhook string, now time.Time, limit int) ([]Delivery, error)
	// Undelivered returns up to limit deliveries to the webhook with the state DeliveryFailed, the oldest first. The last changes may be
	// missing.
	Undelivered(ctx context.Context, webhook string, limit int) ([]Delivery, error)
	// Pending returns the number of pending deliveries to the webhook, at most limit, which is 1 or more. The
	// last changes may be missing.
	Pending(ctx context.Context, webhook string, limit int) (int, error)
	// WithDue returns the ids of the webhooks, deleted ones too, that have pending deliveries whose Due is not after now. The cost doesn't depend on
	// webhooks without pending deliveries in SQLite.
	WithDue(ctx context.Context, now time.Time) ([]string, error)
	// Deliveries returns up to limit deliveries to the webhook with an id below before, in descending
	// order of the ids. If before is "", it returns the last ones.
	Deliveries(ctx context.Context, webhook, before string, limit int) ([]Delivery, error)
	// Forget deletes the deliveries to a webhook that was deleted. The store may also let them expire.
	Forget(ctx context.Context, webhook string) error
	// Expire deletes deliveries that were made before the time, some hundreds at least. The store may
	// also delete them by itself.
	Expire(ctx context.Context, before time.Time) error
}

// Announcer tells a process that a delivery waits. A message is only a hint: it may arrive twice, late
// or never. The store has the deliveries that wait.
type Announcer interface {
	// Announce tells that the delivery to the webhook with the id will be due after the pause.
	Announce(ctx context.Context, webhook, id string, pause time.Duration) error
}

// PostTime is the longest time of one attempt at a delivery.
const PostTime = 20 * time.Second

// Poster calls webhooks.
type Poster interface {
	// Post sends the body to the URL by POST, with the header, once and within PostTime. It follows no
	// redirect and reads no body. It returns the answer with any status, or an error if there is none:
	// NotFound if the URL can't be called, PrivateHost if its address is in a private network, NoHost
	// if its host doesn't exist or refuses connections, TooSlow if the time is over, and Unavailable
	// if the network or the server fails.
	Post(ctx context.Context, url string, header http.Header, body []byte) (Answer, error)
}

// Bus takes the events of all accounts, for programs of the operator.
type Bus interface {
	// Put returns once the bus has the events, at least once each. It tries events again that the bus doesn't take, for some
	// seconds, and then returns an error: any of the events may be missing. It leaves out events that the bus will never take
	// because of what is in them, and returns their indexes.
	Put(ctx context.Context, all []BusEvent) (refused []int, err error)
}

// Objects stores media files under slash-separated keys.
type Objects interface {
	// Put stores size bytes of r under the key, or all of r if size is -1. It replaces an object
	// with the same key. After an error it has stored nothing. The error wraps an error of r or
	// ctx. Put returns soon after ctx ends, for any size.
	Put(ctx context.Context, key string, r io.Reader, size int64) error
	// Open returns the object's bytes and their number. It returns NotFound if there is no such
	// object.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// OpenPart returns size bytes of the object from the offset, which it must have. It returns
	// NotFound if there is no such object, and Conflict if its version is another one.
	OpenPart(ctx context.Context, key, version string, offset, size int64) (io.ReadCloser, error)
	// Version returns the object's version and its size in bytes. Objects with other bytes that Put
	// stores under the key have other versions. Version returns NotFound if there is no such object.
	Version(ctx context.Context, key string) (version string, size int64, err error)
	// Size returns the object's size in bytes. It returns NotFound if there is no such object.
	Size(ctx context.Context, key string) (int64, error)
	// Delete deletes the object. A missing object is not an error.
	Delete(ctx context.Context, key string) error
	// DeleteAll deletes the objects whose keys start with prefix, which ends with a slash. It also
	// deletes the parts of objects there whose Put did not finish.
	DeleteAll(ctx context.Context, prefix string) error
	// List calls f for each object whose key starts with prefix, in no particular order. If f
	// returns an error, List stops and returns it. f may delete the object.
	List(ctx context.Context, prefix string, f func(key string, modified time.Time) error) error
	// SignGet returns a URL that serves the object to anyone until the time until. A browser saves
	// the object under the file name. The URL may be relative to the service's host.
	SignGet(ctx context.Context, key, name string, until time.Time) (*url.URL, error)
	// SignPut returns a URL that accepts exactly size bytes by PUT until the time until, and the
	// headers that the client must send with them. The URL may be relative to the service's host.
	SignPut(ctx context.Context, key string, size int64, contentType string, until time.Time) (*url.URL, http.Header, error)
}

// Hints tell workers that a request waits. A message is only a hint: it may arrive twice, late or
// never. The store has the requests that wait.
type Hints interface {
	Send(ctx context.Context, r Request) error
}

// Pool counts and starts workers on AWS, where none runs all the time. Each worker claims requests
// as long as some wait, and then ends.
type Pool interface {
	// Count returns the number of workers that were started and do not run yet, and the number of
	// workers that run. Workers that started or ended a moment ago may not be counted yet, or may
	// still be counted.
	Count(ctx context.Context) (waiting, running int, err error)
	// Start starts n workers, at least one.
	Start(ctx context.Context, n int) error
}

// Demand stores what Scale needs to know how many workers of a Pool to start.
type Demand interface {
	// Waiting returns the numbers of requests that are claimable at now, each at most limit. In old are those of them that
	// were made at the time by or before, or were postponed. The last changes may be missing. Requests whose lease ran out
	// may be missing until the next Upkeep. The cost depends only on limit.
	Waiting(ctx context.Context, now, by time.Time, limit int) (all, old Waiting, err error)
	// LockScaling gives the caller the scaling lock, the sole right to count and start workers,
	// until the time until. It returns the mean times of the last requests of each class that Worked was called
	// for, some hundreds or more, if it was called for any. While another process holds the lock, it
	// returns Conflict with a RetryAfter.
	LockScaling(ctx context.Context, now, until time.Time) (Means, error)
	// LockSmall gives the caller the sole right to start workers of the SmallPool, as LockScaling does for those of the Pool.
	LockSmall(ctx context.Context, now, until time.Time) (Means, error)
	// Steady records how many workers of the SmallPool run, and returns the least of the last three numbers. Sweep calls it once a
	// minute, with the scaling lock.
	Steady(ctx context.Context, running int) (least int, err error)
	// Worked records the time for which a worker held a request. It returns the sum of the times of all workers of the NeuralPool
	// since the store was made if the worker is one of these, and else that of the Pool.
	Worked(ctx context.Context, s Stint) (all time.Duration, err error)
}
