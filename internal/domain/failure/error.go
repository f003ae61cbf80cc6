// Package failure says what went wrong: the codes of errors with their HTTP status, and the reasons why requests
// fail, with the sentences that clients read.
package failure

import (
	"errors"
	"math"
	"net/http"
	"time"
)

// Code classifies an Error. HTTP, the command line and the worker each translate it, whichever part
// of the service returned the error.
type Code string

// The codes of errors. Status has the table of their HTTP statuses.
const (
	Invalid      Code = "invalid"       // the service can't accept the caller's input
	Unauthorized Code = "unauthorized"  // the caller is not known
	ReadOnlyKey  Code = "read_only"     // the key may only make calls that change nothing
	NotFound     Code = "not_found"     // it does not exist for this caller
	Conflict     Code = "conflict"      // lost a compare-and-swap: a lease, a state
	Finished     Code = "finished"      // the request is already final
	Unfinished   Code = "unfinished"    // the request, or another one with the same media, is not final
	Reused       Code = "reused"        // an idempotency key came with another request
	TokenLimit   Code = "token_limit"   // the key may make no more requests
	TooLarge     Code = "too_large"     // it exceeds a size limit
	RateLimited  Code = "rate_limited"  // too many calls; see Error.RetryAfter
	OpenLimit    Code = "open_limit"    // the account may have no more open requests; see Error.RetryAfter
	BatchLimit   Code = "batch_limit"   // the account may have no more batches that aren't finished; see Error.RetryAfter
	StorageLimit Code = "storage_limit" // the account may store no more bytes
	KeyLimit     Code = "key_limit"     // the account may have no more active keys
	WebhookLimit Code = "webhook_limit" // the account may have no more webhooks
	SameWebhook  Code = "same_webhook"  // the account has a webhook with this URL
	EventLimit   Code = "event_limit"   // the account may have no more undelivered events; see Error.RetryAfter
	NoSpace      Code = "no_space"      // the disk is full, or has only its reserve left; see Error.RetryAfter
	Unavailable  Code = "unavailable"   // another server or the network fails, and may work later; see Error.RetryAfter
	TooSlow      Code = "too_slow"      // a file does not arrive within its time
	NoHost       Code = "no_host"       // a host does not exist, or refuses connections
	PrivateHost  Code = "private_host"  // a host is in a private network, which is not allowed
	Internal     Code = "internal"      // a fault of the service
)

// Status returns the HTTP status of an answer with the code. For a code that no client can cause, such as
// Conflict, it is 500.
func (c Code) Status() int {
	switch c {
	case Invalid:
		return http.StatusBadRequest
	case Unauthorized:
		return http.StatusUnauthorized
	case ReadOnlyKey:
		return http.StatusForbidden
	case NotFound:
		return http.StatusNotFound
	case Finished, Unfinished, WebhookLimit, SameWebhook:
		return http.StatusConflict
	case TokenLimit:
		return http.StatusPreconditionFailed
	case TooLarge:
		return http.StatusRequestEntityTooLarge
	case Reused:
		return http.StatusUnprocessableEntity
	case RateLimited, OpenLimit, BatchLimit, EventLimit, KeyLimit:
		return http.StatusTooManyRequests
	case StorageLimit, NoSpace:
		return http.StatusInsufficientStorage
	default:
		return http.StatusInternalServerError
	}
}

// TooManyCalls is the message of RateLimited, no matter what refuses the call.
const TooManyCalls = "rate limit exceeded"

// RateLimit returns the refusal of a call that may succeed after a time, with a cause or nil.
func RateLimit(after time.Duration, cause error) error {
	return &Error{Code: RateLimited, Message: TooManyCalls, Err: cause, RetryAfter: after}
}

// Error is the error type of the service. Message is public: any client may read it, so it has no
// path, address or output of a tool. Err is the cause, which only the logs have.
type Error struct {
	Code       Code
	Message    string
	Err        error
	RetryAfter time.Duration // time until a call may succeed, for RateLimited, OpenLimit, BatchLimit, EventLimit, NoSpace, Unavailable, and Conflict of Demand.LockScaling; 0 if unknown
	Failure    Failure       // of the request that the error ends, if any
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// New returns an Error without a cause, for a fault of the caller.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Restate gives an error of a port with the code the message for the client. It returns any other
// error as it is.
func Restate(err error, code Code, message string) error {
	if CodeOf(err) != code {
		return err
	}
	return &Error{Code: code, Message: message, Err: err}
}

// CodeOf returns the code of the first *Error in err's chain, Internal for any
// other error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Unless returns err, or nil if it has the code.
func Unless(code Code, err error) error {
	if CodeOf(err) == code {
		return nil
	}
	return err
}

// RetrySeconds returns the time until a call that failed with err may succeed: the RetryAfter of
// the first *Error in err's chain, in seconds, rounded up. It returns 0 if that is unknown, but at
// least 1 for RateLimited, OpenLimit and EventLimit, whose clients must always wait.
func RetrySeconds(err error) int {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return 0
	}
	wait := int(math.Ceil(e.RetryAfter.Seconds()))
	if e.Code == RateLimited || e.Code == OpenLimit || e.Code == EventLimit {
		return max(wait, 1)
	}
	return wait
}

// MessageOf returns the public message of err: the message of the first *Error in its chain, or
// "internal error".
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != Internal {
		return e.Message
	}
	return "internal error"
}
