package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
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

// stallError says that a server sent nothing for a time.
type stallError time.Duration

func (s stallError) Error() string { return fmt.Sprintf("nothing came for %s", time.Duration(s)) }

// writeError is an error of the writer that the file is copied to.
type writeError struct{ error }

var (
	errChanged  = errors.New("the file changed while it was fetched, or can't be continued")
	errDamaged  = errors.New("the compressed answer is damaged, or was cut off")
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
	e := &failure.Error{Err: err}
	switch {
	case err == errTooLarge:
		e.Code, e.Message = failure.TooLarge, "file is too large"
	case answered && answer.busy():
		e.Code, e.Message, e.RetryAfter = failure.Unavailable, "server is not available", answer.retryAfter
	case private:
		e.Code, e.Message = failure.PrivateHost, "URL is in a private network"
	case answered, isRefused(err):
		e.Code, e.Message = failure.NotFound, "URL is not accessible"
	case isMissing(err):
		e.Code, e.Message = failure.NoHost, details(err).Cause
	default:
		e.Code, e.Message = failure.Unavailable, "server is not reachable"
	}
	e.Failure.Details = details(err)
	return e
}

// details returns what clients should know of a fetch that failed with err: nothing that a server could hide in it.
func details(err error) (d failure.Details) {
	if s, ok := errors.AsType[*statusError](err); ok {
		d.Status, d.Cause = s.status, fmt.Sprintf("the server answered %d", s.status)
		if s.status == http.StatusUnauthorized || s.status == http.StatusForbidden {
			d.Cause += "; perhaps the URL has expired, or needs a sign-in"
		}
		return d
	}
	if c, ok := errors.AsType[*cutError](err); ok {
		if _, stalled := c.cause.(stallError); stalled { // as if the network failed: another time the server may send the rest
			d.Cause = "the server stopped sending at " + c.place()
			return d
		}
		d.Status, d.Cause = http.StatusOK, "the answer was cut off at "+c.place()
		if c.cause == errDamaged {
			d.Cause = errDamaged.Error()
		}
		return d
	}
	if ours, ok := errors.AsType[refused](err); ok {
		d.Cause = string(ours)
		return d
	}
	name, unknown := errors.AsType[*net.DNSError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	late, isNet := errors.AsType[net.Error](err)
	_, private := errors.AsType[privateAddress](err)
	switch {
	case private:
		d.Cause = "the host is in a private network"
	case unknown && name.IsNotFound:
		d.Cause = "the host does not exist"
	case errors.Is(err, syscall.ECONNREFUSED):
		d.Cause = "the host accepts no connections"
	case noTLS, errors.Is(err, http.ErrSchemeMismatch):
		d.Cause = "the server speaks no TLS; perhaps the URL should begin with http:"
	case distrusted:
		d.Cause = "the certificate of the host can't be trusted"
	case isNet && late.Timeout():
		d.Cause = "the server did not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		d.Cause = "the server closed the connection"
	case err == errChanged:
		d.Cause = errChanged.Error()
	}
	return d
}

// megabytes returns a number of bytes as text.
func megabytes(n int64) string {
	if n < 1e5 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// cutError is the end of an answer before that of the file.
type cutError struct {
	done, size int64 // in bytes; size is -1 if it isn't known
	cause      error
}

func (c *cutError) Error() string {
	return fmt.Sprintf("at %s: %v", c.place(), c.cause)
}

// place returns how much came.
func (c *cutError) place() string {
	if c.size > 0 {
		return megabytes(c.done) + " of " + megabytes(c.size)
	}
	return megabytes(c.done)
}

func (c *cutError) Unwrap() error { return c.cause }

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
