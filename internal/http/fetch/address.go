package fetch

import (
	"net/netip"
	"slices"
)

// policy decides to which addresses the client may connect.
type policy struct {
	unicast  netip.Prefix   // the IPv6 addresses that can be public
	refused  []netip.Prefix // of unicast and IPv4 addresses
	metadata []netip.Prefix // addresses in private networks that are always refused
	private  bool           // also allow private networks and this machine
}

// newPolicy allows the public Internet: unicast addresses that IANA has not reserved. With
// private, it also allows private networks and this machine. Sources, as of 2025-10:
// https://www.iana.org/assignments/iana-ipv4-special-registry
// https://www.iana.org/assignments/iana-ipv6-special-registry
//
// It always refuses the metadata services of clouds, which return the machine's credentials. Those
// with IPv4 addresses are link-local or in the range shared by carriers. The IPv6 addresses come
// from the clouds' documentation.
func newPolicy(private bool) policy {
	refused := prefixes(
		"0.0.0.0/8",        // this network; Linux connects to itself
		"10.0.0.0/8",       // private
		"100.64.0.0/10",    // shared by carriers (CGNAT)
		"127.0.0.0/8",      // loopback
		"168.63.129.16/32", // Azure's host, not registered as special
		"169.254.0.0/16",   // link-local, with the clouds' metadata services
		"172.16.0.0/12",    // private
		"192.0.0.0/24",     // IETF protocol assignments
		"192.0.2.0/24",     // documentation
		"192.88.99.0/24",   // relays of 6to4
		"192.168.0.0/16",   // private
		"198.18.0.0/15",    // benchmarks
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and broadcast

		// Outside 2000::/3 the only public unicast addresses are those of NAT64, which can contain
		// any IPv4 address.
		"2001::/23",     // IETF protocol assignments, with Teredo
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which can contain any IPv4 address
		"3fff::/20",     // documentation
	)
	metadata := prefixes(
		"fd00:ec2::/32",          // AWS: fd00:ec2::254, and ::23 for the roles of EKS
		"fd20:ce::254/128",       // Google
		"fd00:c1::a9fe:a9fe/128", // Oracle
		"fd00:42::42/128",        // Scaleway
	)
	return policy{unicast: netip.MustParsePrefix("2000::/3"), refused: refused, metadata: metadata, private: private}
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// allows reports whether the client may connect to the address.
func (p policy) allows(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap() // ::ffff:127.0.0.1 connects to 127.0.0.1
	if p.private && (a.IsLoopback() || a.IsPrivate()) {
		return !within(p.metadata, a)
	}
	if !a.Is4() && !p.unicast.Contains(a) {
		return false
	}
	return !within(p.refused, a)
}

func within(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(prefix netip.Prefix) bool { return prefix.Contains(a) })
}
