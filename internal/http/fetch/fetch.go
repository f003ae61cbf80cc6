// Package fetch downloads the files at clients' URLs, and sends files to such URLs. It refuses URLs that
// lead to this machine or its private network.
package fetch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/version"
)

// These limits of a fetch are fixed.
const (
	maxRedirects   = 5
	maxCuts        = 5 // largest number of times that an interrupted fetch is continued, or a file is sent again
	maxHeaderBytes = 64 << 10
	connectTimeout = 10 * time.Second
	// continueTimeout is the time for a server to say that it takes a file. Then the file is sent anyway,
	// since some servers say nothing. curl waits as long.
	continueTimeout = time.Second
)

// Options are the options of a Client.
type Options struct {
	AllowPrivate bool          // also connect to loopback, RFC 1918 and fc00::/7 addresses
	PrivateHint  string        // end of the error that refuses one of those, which tells operators how to allow them; may be ""
	Total        time.Duration // longest time of one fetch or Send, with its redirects, tries and body
	Stall        time.Duration // longest time without a byte
	About        *url.URL      // where people learn who calls, for the User-Agent; may be nil
	Patience     time.Duration // time after which a fetch or Send must have had transfer.LeastSpeed; 0 is without end
}

// firstPause is the pause before an interrupted fetch is continued, or a file is sent again. Each further pause is twice as
// long.
const firstPause = time.Second

// Client fetches and sends over http and https, on any port of a public address. It uses no proxy of the
// environment and keeps no cookies. Credentials in a URL go only to the URL's own host.
type Client struct {
	http    *http.Client
	sender  *http.Client // follows no redirects
	options Options
	pause   time.Duration // before a fetch is first continued, or a file is first sent again
}

// New returns a client.
func New(o Options) *Client {
	return newClient(o, net.DefaultResolver)
}

func newClient(o Options, resolver *net.Resolver) *Client {
	allowed, open := newPolicy(o.AllowPrivate), newPolicy(true)
	dialer := &net.Dialer{
		Timeout:  connectTimeout,
		Resolver: resolver,
		// Control checks the address of the connection itself. A check of the URL, or of an
		// earlier look-up of its host, could be evaded: by unusual notations, by redirects, or by
		// a name that later resolves to another address.
		Control: func(_, address string, _ syscall.RawConn) error {
			a, err := netip.ParseAddrPort(address)
			switch {
			case err != nil || !open.allows(a.Addr()):
				return refused(fmt.Sprintf("address %q is not public", address))
			case !allowed.allows(a.Addr()):
				return privateAddress(fmt.Sprintf("address %q is in a private network%s", address, o.PrivateHint))
			}
			return nil
		},
	}
	transport := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  o.Stall,
		ExpectContinueTimeout:  continueTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true, // a small body must not become a huge one
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		http:   &http.Client{CheckRedirect: checkRedirect, Transport: transport},
		sender: &http.Client{CheckRedirect: stay, Transport: transport}, options: o, pause: firstPause,
	}
}

// agent returns the User-Agent of all calls: who calls, for people who read the logs of the other side.
func (c *Client) agent() string {
	if c.options.About == nil {
		return "lipsync/" + version.Number
	}
	return "lipsync/" + version.Number + " (+" + c.options.About.String() + ")"
}

// checkRedirect stops long chains of redirects. It also removes the Referer: the URL before may
// contain a secret.
func checkRedirect(next *http.Request, via []*http.Request) error {
	next.Header.Del("Referer")
	if len(via) > maxRedirects {
		return refused(fmt.Sprintf("more than %d redirects", maxRedirects))
	}
	return checkURL(next.URL)
}

func checkURL(u *url.URL) error {
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return refused("not an absolute http or https URL")
	}
	if strings.HasSuffix("."+strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), ".invalid") {
		return refused("names that end with .invalid have no host (RFC 6761)")
	}
	return nil
}

// Fetch copies the file at the URL to w, at most limit bytes. It returns NotFound if the URL is at
// fault, PrivateHost if its address is in a private network, NoHost if its host doesn't exist or
// refuses connections, Unavailable if its server or the network fails, TooLarge if there are more
// bytes, TooSlow if they don't arrive in time, and any other error if this machine fails or ctx
// ends.
//
// An interrupted fetch continues where it ended, if the server can tell that the file is still the
// same. The caller repeats fetches that did not begin.
func (c *Client) Fetch(ctx context.Context, rawURL string, w io.Writer, limit int64) error {
	bounded, stop := context.WithTimeout(ctx, c.options.Total)
	defer stop()
	d := &download{client: c, url: rawURL, w: w, limit: limit}
	bounded, end := c.paced(bounded, &d.came)
	defer end()
	for cut := 0; ; cut++ {
		err := explain(d.get(bounded))
		pause := c.pause << cut
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case bounded.Err() != nil && (d.done > 0 || context.Cause(bounded) == errPace):
			return &failure.Error{Code: failure.TooSlow, Message: "file comes too slowly", Err: err}
		case cut == maxCuts || !d.continues() || !mayPass(err, pause):
			return err
		}
		wait(bounded, pause)
	}
}

// wait waits for the duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
