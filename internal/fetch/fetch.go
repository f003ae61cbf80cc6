// Package fetch gets the files behind users' URLs, without letting an URL reach
// what only this machine or its network may reach.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"lipsync/internal/lipsync"
)

// Limits of one fetch that is not the caller's to choose.
const (
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
	connectTimeout = 10 * time.Second
)

// Options says how a Client behaves.
type Options struct {
	AllowPrivate bool          // open loopback, RFC 1918 and fc00::/7 addresses
	Total        time.Duration // for one fetch, redirects and body included
	Stall        time.Duration // without a byte
}

// Client fetches over http and https, on any port of a public address. It
// follows no proxy of the environment and keeps no cookies; credentials in an
// URL go only to its own host.
type Client struct {
	http    *http.Client
	options Options
}

// New returns a client.
func New(o Options) *Client {
	return newClient(o, net.DefaultResolver)
}

func newClient(o Options, resolver *net.Resolver) *Client {
	allowed := newPolicy(o.AllowPrivate)
	dialer := &net.Dialer{
		Timeout:  connectTimeout,
		Resolver: resolver,
		// Control sees the address that is connected to. A check before, on the
		// URL or on a look-up of its host, could be led astray: by odd
		// spellings, by redirects, by a name that resolves otherwise later.
		Control: func(_, address string, _ syscall.RawConn) error {
			a, err := netip.ParseAddrPort(address)
			if err != nil || !allowed.allows(a.Addr()) {
				return fmt.Errorf("address %q is not public", address)
			}
			return nil
		},
	}
	return &Client{options: o, http: &http.Client{
		CheckRedirect: checkRedirect,
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    connectTimeout,
			ResponseHeaderTimeout:  o.Stall,
			MaxResponseHeaderBytes: maxHeaderBytes,
			DisableCompression:     true, // a small body must not become a huge one
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
		},
	}}
}

// checkRedirect stops long chains, and tells no host where the last one sent us
// from: that URL may hold a secret.
func checkRedirect(next *http.Request, via []*http.Request) error {
	next.Header.Del("Referer")
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return checkURL(next.URL)
}

func checkURL(u *url.URL) error {
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return fmt.Errorf("not an absolute http or https URL")
	}
	return nil
}

// Fetch copies what is behind the URL to w, at most limit bytes. It returns
// NotFound if there is nothing to get, TooLarge if there are more bytes, and
// any other error if it could not write or ctx ended.
func (c *Client) Fetch(ctx context.Context, rawURL string, w io.Writer, limit int64) error {
	body, err := c.open(ctx, rawURL)
	if err != nil {
		return err
	}
	defer body.Close()
	if body.length > limit {
		return tooLarge()
	}
	n, err := io.Copy(w, io.LimitReader(body, limit+1))
	if err != nil {
		return err
	}
	if n > limit {
		return tooLarge()
	}
	return nil
}

// open starts a fetch. The body must be closed.
func (c *Client) open(parent context.Context, rawURL string) (_ *body, err error) {
	ctx, stop := context.WithTimeout(parent, c.options.Total)
	defer func() {
		if err != nil {
			stop()
			err = sourceError(parent, err)
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return nil, err
	}
	if err := checkURL(request.URL); err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "lipsync")
	request.Header.Set("Accept-Encoding", "identity")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	return newBody(parent, response, c.options.Stall, stop), nil
}

// sourceError says that the source is at fault, unless ctx ended.
func sourceError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &lipsync.Error{Code: lipsync.NotFound, Message: "URL is not accessible", Err: withoutURL(err)}
}

// withoutURL takes off the URL that net/http puts before an error: it may hold
// a secret, and logs are no place for one.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

func tooLarge() error {
	return &lipsync.Error{Code: lipsync.TooLarge, Message: "file is too large"}
}
