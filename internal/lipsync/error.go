package lipsync

import (
	"errors"
	"math"
	"time"
)

// Code classifies an Error, so that each edge (HTTP, command line, worker) can
// translate it without knowing who raised it.
type Code string

// The codes. HTTP statuses for them live in one table in package rest.
const (
	Invalid      Code = "invalid"       // the caller's input can't be accepted
	Unauthorized Code = "unauthorized"  // who calls is not known
	NotFound     Code = "not_found"     // no such thing for this caller
	Conflict     Code = "conflict"      // lost a compare-and-swap: a lease, a state
	Finished     Code = "finished"      // the request is final, and stays so
	Unfinished   Code = "unfinished"    // the request, or another one that shares its media, is not final
	Reused       Code = "reused"        // an idempotency key came with another request
	TokenLimit   Code = "token_limit"   // the key may make no more requests
	TooLarge     Code = "too_large"     // over a size limit
	RateLimited  Code = "rate_limited"  // too many calls; see Error.RetryAfter
	OpenLimit    Code = "open_limit"    // the account may have no more open requests; see Error.RetryAfter
	StorageLimit Code = "storage_limit" // the account may store no more bytes
	KeyLimit     Code = "key_limit"     // the account may have no more active keys
	NoSpace      Code = "no_space"      // the disk is full, or new media would take its reserve; see Error.RetryAfter
	Unavailable  Code = "unavailable"   // another's server or the network fails, and may work later; see Error.RetryAfter
	TooSlow      Code = "too_slow"      // a file that doesn't come within its time
	NoHost       Code = "no_host"       // a host that doesn't exist, or refuses connections
	PrivateHost  Code = "private_host"  // a host in a private network, which isn't allowed
	Internal     Code = "internal"      // our fault
)

// Error is the one error type of the service. Message is public: it may reach
// any client, so it holds no path, address or tool output. Err is the cause,
// only for logs.
type Error struct {
	Code       Code
	Message    string
	Err        error
	RetryAfter time.Duration // when a call may succeed again, for RateLimited, OpenLimit, NoSpace, Unavailable, and Conflict of a turn; 0 if nobody said
	Failure    Failure       // of a request, where the error ends one
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// newError makes an Error with no cause: the caller is at fault, not a library.
func newError(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// restate gives an error of that code, as a port returned it, the sentence that
// a client is to read. It leaves any other as it is.
func restate(err error, code Code, message string) error {
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

// RetrySeconds returns when a call that failed with err may succeed again: the RetryAfter of the
// first *Error in err's chain, in whole seconds, rounded up. 0 if nobody said, but at least 1 for
// what a limit refused: its client is always told to wait.
func RetrySeconds(err error) int {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return 0
	}
	wait := int(math.Ceil(e.RetryAfter.Seconds()))
	if e.Code == RateLimited || e.Code == OpenLimit {
		return max(wait, 1)
	}
	return wait
}

// MessageOf returns the public message of err: that of the first *Error in its
// chain, "internal error" for any other.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != Internal {
		return e.Message
	}
	return "internal error"
}
