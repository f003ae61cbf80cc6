// Package proxy tells calls that come by a proxy as if they came from its client.
package proxy

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// Trust passes each call on. One from a trusted proxy, an address or a network, gets the client's address as RemoteAddr, the host that the client
// called, and a TLS if the client used it, as X-Forwarded-For, -Host and -Proto say. Trust calls untold, once, at the first call with
// X-Forwarded-Proto that isn't trusted; untold may be nil.
func Trust(trusted []string, untold func(), next http.Handler) http.Handler {
	var networks []netip.Prefix
	for _, text := range trusted {
		if network, err := netip.ParsePrefix(text); err == nil {
			networks = append(networks, unmapped(network))
		} else if address, err := netip.ParseAddr(text); err == nil {
			networks = append(networks, unmapped(netip.PrefixFrom(address, address.BitLen())))
		}
	}
	trusts := func(address netip.Addr) bool {
		return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(address.Unmap()) })
	}
	var once sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		switch {
		case err == nil && trusts(from.Addr()):
			r = forwarded(r, trusts)
		case untold != nil && r.Header.Get("X-Forwarded-Proto") != "":
			once.Do(untold)
		}
		next.ServeHTTP(w, r)
	})
}

// unmapped returns a network of IPv6 that has IPv4 addresses only as that of IPv4, and any other as it is.
func unmapped(n netip.Prefix) netip.Prefix {
	if n.Addr().Is4In6() && n.Bits() >= 96 {
		n = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96)
	}
	return n.Masked()
}

// forwarded returns the call as the proxy's client made it.
func forwarded(r *http.Request, trusts func(netip.Addr) bool) *http.Request {
	call := *r
	for _, text := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		address, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break // what is before it may be anything
		}
		call.RemoteAddr = net.JoinHostPort(address.Unmap().String(), "0")
		if !trusts(address) {
			break // the last address that a trusted proxy saw
		}
	}
	if hosts := r.Header.Values("X-Forwarded-Host"); len(hosts) == 1 && hosts[0] != "" && !strings.ContainsAny(hosts[0], ", /\\@?#") {
		call.Host = hosts[0] // of several, one may be the client's own
	}
	switch r.Header.Get("X-Forwarded-Proto") {
	case "https":
		call.TLS = &tls.ConnectionState{} // of the client to the proxy; only whether there is one counts
	case "http":
		call.TLS = nil
	}
	return &call
}
