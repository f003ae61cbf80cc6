package failure

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"
)

// Because returns the failure as the error of an attempt. The cause is for the logs and may be nil.
func (f Failure) Because(cause error) error {
	e := &Error{Code: Internal, Message: f.Sentence(), Err: cause, Failure: f}
	switch f.Code.Class() {
	case OfInput:
		e.Code = Invalid
	case Transient:
		e.Code = Unavailable
	}
	if earlier, ok := errors.AsType[*Error](cause); ok && f.Code.Postpones() {
		e.RetryAfter = earlier.RetryAfter
	}
	return e
}

// Of returns the failure that ended an attempt with err: the one of the first *Error in
// err's chain; HostFailing if the machine, its network or another part of the service fails for a
// while; and otherwise InternalFault.
func Of(err error) Failure {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && e.Failure.Code != "":
		return e.Failure
	case ok && (e.Code == Unavailable || e.Code == RateLimited || e.Code == NoSpace), IsHostFault(err), isNetworkFault(err), isBusy(err):
		return Failure{Code: HostFailing}
	default:
		return Failure{Code: InternalFault}
	}
}

// IsHostFault reports whether err means that the machine's disk fails, or that the machine has no
// memory, open files or processes left.
func IsHostFault(err error) bool {
	return DiskFails(err) || is(err, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOBUFS)
}

// is reports whether err is one of the system's errors in any.
func is(err error, any ...syscall.Errno) bool {
	return slices.ContainsFunc(any, func(number syscall.Errno) bool { return errors.Is(err, number) })
}

// isNetworkFault reports whether err means that another machine can't be reached.
func isNetworkFault(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// isBusy reports whether err is the answer of a server that can't work at the moment, as the HTTP
// libraries of the adapters return it.
func isBusy(err error) bool {
	answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	return ok && (answer.HTTPStatusCode() >= 500 || answer.HTTPStatusCode() == http.StatusTooManyRequests)
}

// ErrNoSpace returns an error with the code NoSpace, which tells the client to try again later. The
// cause is for the logs and may be nil.
func ErrNoSpace(cause error) error {
	return &Error{Code: NoSpace, Message: "the service has too little disk space; try again later", Err: cause, RetryAfter: spaceRetry}
}

// DiskFull reports whether a full disk or a disk quota caused err.
func DiskFull(err error) bool {
	return CodeOf(err) == NoSpace || is(err, syscall.ENOSPC, syscall.EDQUOT)
}

// DiskFails reports whether a disk caused err that is full, that can't be read or written, or that
// the system made read-only after errors.
func DiskFails(err error) bool {
	return DiskFull(err) || is(err, syscall.EIO, syscall.EROFS)
}

// spaceRetry is the time that a client must wait after NoSpace. The service can't know when the
// disk has space again.
const spaceRetry = time.Minute
