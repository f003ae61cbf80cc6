package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"lipsync/internal/domain/failure"
)

// refused is the reason why a URL or a redirect is not fetched.
type refused string

func (r refused) Error() string { return string(r) }

// privateAddress says that an address in a private network is refused.
type privateAddress string

func (p privateAddress) Error() string { return string(p) }

// statusError is an answer without the file, or the refusal of one that was sent.
type statusError struct {
	status     int
	retryAfter time.Duration // as the server asks; 0 if it doesn't
}

func (s *statusError) Error() string { return fmt.Sprintf("status %d", s.status) }

// HTTPStatusCode returns the status, for callers of Send.
func (s *statusError) HTTPStatusCode() int { return s.status }

// busy reports whether the status is about the server rather than the file.
func (s *statusError) busy() bool {
	switch s.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	default:
		return s.status >= 500
	}
}

// writeError is an error of the writer that the file is copied to.
type writeError struct{ error }

var (
	errChanged  = errors.New("the file changed while it was fetched, or can't be continued")
	errTooLarge = errors.New("more bytes than the limit")
)

// explain returns the error with a code that says whose fault it is. The code is NotFound only if
// the URL is surely at fault.
func explain(err error) error {
	if written, ok := err.(*writeError); ok {
		return written.error
	}
	err = withoutURL(err)
	if err == nil || failure.IsHostFault(err) {
		return err
	}
	_, private := errors.AsType[privateAddress](err)
	answer, answered := errors.AsType[*statusError](err)
	switch {
	case err == errTooLarge:
		return &failure.Error{Code: failure.TooLarge, Message: "file is too large", Err: err}
	case answered && answer.busy():
		return &failure.Error{Code: failure.Unavailable, Message: "server is not available", Err: err, RetryAfter: answer.retryAfter}
	case private:
		return &failure.Error{Code: failure.PrivateHost, Message: "URL is in a private network", Err: err}
	case answered, isRefused(err):
		return &failure.Error{Code: failure.NotFound, Message: "URL is not accessible", Err: err}
	case isMissing(err):
		return &failure.Error{Code: failure.NoHost, Message: "host does not exist", Err: err}
	default:
		return &failure.Error{Code: failure.Unavailable, Message: "server is not reachable", Err: err}
	}
}

// isRefused reports whether this client refused, or the two sides speak different protocols.
func isRefused(err error) bool {
	_, ours := errors.AsType[refused](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	return ours || noTLS || errors.Is(err, http.ErrSchemeMismatch)
}

// isMissing reports whether the host does not exist, refuses connections, or can't be trusted. Any
// of that may change within a minute.
func isMissing(err error) bool {
	name, ok := errors.AsType[*net.DNSError](err)
	if ok && name.IsNotFound || errors.Is(err, syscall.ECONNREFUSED) {
		return true
	}
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noRoots := errors.AsType[x509.SystemRootsError](err) // this machine has no root certificates
	return distrusted && !noRoots
}

// withoutURL removes the URL that net/http puts before an error. It may contain a secret, which
// must not get into logs.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// retryAfter returns the time that the server asks to wait (RFC 9110, 10.2.3), or 0 if it doesn't ask,
// or can't be understood.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date")) // by the server's clock
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}
