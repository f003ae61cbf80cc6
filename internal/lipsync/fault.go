package lipsync

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"syscall"
)

// Because returns the failure as the error of an attempt, with its cause for the
// logs, which may be nil.
func (f Failure) Because(cause error) error {
	e := &Error{Code: Internal, Message: f.Sentence(), Err: cause, Failure: f}
	switch f.Code.Class() {
	case OfInput:
		e.Code = Invalid
	case Transient:
		e.Code = Unavailable
		if earlier, ok := errors.AsType[*Error](cause); ok {
			e.RetryAfter = earlier.RetryAfter
		}
	}
	return e
}

// FailureOf returns the failure that an attempt ended by: the one that the first
// *Error in err's chain tells; HostFailing if the machine, its network or another
// part of the service fails for a while; else InternalFault.
func FailureOf(err error) Failure {
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

// IsHostFault reports whether err says that the machine's disk fails, or that it has no
// more memory, open files or processes.
func IsHostFault(err error) bool {
	return DiskFails(err) || is(err, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOBUFS)
}

// is reports whether err is one of those of the system.
func is(err error, any ...syscall.Errno) bool {
	return slices.ContainsFunc(any, func(number syscall.Errno) bool { return errors.Is(err, number) })
}

// isNetworkFault reports whether err says that another machine can't be reached.
func isNetworkFault(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// isBusy reports whether err is the answer of a server that can't do its work now,
// as the libraries that speak HTTP for an adapter tell it.
func isBusy(err error) bool {
	answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	return ok && (answer.HTTPStatusCode() >= 500 || answer.HTTPStatusCode() == http.StatusTooManyRequests)
}
