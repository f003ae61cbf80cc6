package fetch

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

func TestPolicy(t *testing.T) {
	tests := []struct {
		address         string
		public, private bool // whether each policy allows the address
	}{
		{"1.1.1.1", true, true},
		{"8.8.8.8", true, true},
		{"99.255.255.255", true, true},
		{"100.128.0.0", true, true},
		{"172.15.255.255", true, true},
		{"172.32.0.0", true, true},
		{"192.31.196.1", true, true}, // AS112, globally reachable
		{"198.17.255.255", true, true},
		{"223.255.255.255", true, true},
		{"2606:4700:4700::1111", true, true},
		{"2001:4860:4860::8888", true, true},
		{"2620:4f:8000::1", true, true}, // AS112, globally reachable
		{"::ffff:8.8.8.8", true, true},

		{"10.0.0.1", false, true},
		{"127.0.0.1", false, true},
		{"127.255.255.254", false, true},
		{"172.16.0.1", false, true},
		{"172.31.255.255", false, true},
		{"192.168.1.1", false, true},
		{"::1", false, true},
		{"::ffff:127.0.0.1", false, true},
		{"::ffff:10.0.0.1", false, true},
		{"fc00::1", false, true},
		{"fd12:3456::1", false, true},

		{"0.0.0.0", false, false},
		{"0.1.2.3", false, false},
		{"100.64.0.1", false, false},
		{"100.100.100.200", false, false}, // a cloud's metadata
		{"168.63.129.16", false, false},
		{"169.254.169.254", false, false}, // most clouds' metadata
		{"192.0.0.192", false, false},     // a cloud's metadata
		{"192.0.2.1", false, false},
		{"fd00:ec2::254", false, false},      // AWS's metadata
		{"fd00:ec2::23", false, false},       // AWS's credentials in EKS
		{"fd00:ec3::1", false, true},         // no metadata service
		{"fd20:ce::254", false, false},       // Google's metadata
		{"fd20:ce::255", false, true},        // no metadata service
		{"fd00:c1::a9fe:a9fe", false, false}, // Oracle's metadata
		{"fd00:42::42", false, false},        // Scaleway's metadata
		{"192.88.99.1", false, false},
		{"198.18.0.1", false, false},
		{"198.19.255.255", false, false},
		{"198.51.100.1", false, false},
		{"203.0.113.1", false, false},
		{"224.0.0.1", false, false},
		{"239.255.255.250", false, false},
		{"240.0.0.1", false, false},
		{"255.255.255.255", false, false},
		{"::", false, false},
		{"::ffff:0.0.0.0", false, false},
		{"::ffff:169.254.169.254", false, false},
		{"::127.0.0.1", false, false},            // IPv4-compatible
		{"64:ff9b::7f00:1", false, false},        // NAT64 of 127.0.0.1
		{"64:ff9b::808:808", false, false},       // NAT64 of 8.8.8.8
		{"64:ff9b:1::a9fe:a9fe", false, false},   // local NAT64
		{"100::1", false, false},                 // discard
		{"2001::1", false, false},                // Teredo
		{"2001:2::1", false, false},              // benchmarks
		{"2001:20::1", false, false},             // ORCHID
		{"2001:db8::1", false, false},            // documentation
		{"2002:7f00:1::1", false, false},         // 6to4 of 127.0.0.1
		{"3fff::1", false, false},                // documentation
		{"5f00::1", false, false},                // segment routing
		{"fe80::1", false, false},                // link-local
		{"fe80::1%eth0", false, false},           //
		{"2606:4700:4700::1111%1", false, false}, // public, except for its zone
		{"fec0::1", false, false},                // site-local
		{"ff02::1", false, false},                // multicast
		{"ffff:ffff:ffff:ffff::1", false, false}, //
		{"::ffff:0:127.0.0.1", false, false},     // IPv4-translated
		{"::ffff:127.0.0.1%lo", false, false},    //
		{"fe80::5efe:10.0.0.1", false, false},    // ISATAP
		{"2001:0:7f00:1:0:0:0:1", false, false},  // Teredo
		{"2001:1ff:ffff::1", false, false},       // the last of 2001::/23
	}
	for _, test := range tests {
		a := netip.MustParseAddr(test.address)
		if got := newPolicy(false).allows(a); got != test.public {
			t.Errorf("public: %s: got %t, want %t", a, got, test.public)
		}
		if got := newPolicy(true).allows(a); got != test.private {
			t.Errorf("private: %s: got %t, want %t", a, got, test.private)
		}
	}
}

// TestPolicyIsNarrow compares the policy with what package netip knows about addresses, for
// addresses in any notation.
func TestPolicyIsNarrow(t *testing.T) {
	public, private := newPolicy(false), newPolicy(true)
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes")
		a, _ := netip.AddrFromSlice(raw)
		if rapid.Bool().Draw(t, "IPv4") {
			a, _ = netip.AddrFromSlice(raw[12:])
		}
		checkNarrow(t, public, private, a)
	})
}

func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{"1.1.1.1", "::ffff:127.0.0.1", "fe80::1%eth0", "64:ff9b::a9fe:a9fe", "0.0.0.0"} {
		f.Add(seed)
	}
	public, private := newPolicy(false), newPolicy(true)
	f.Fuzz(func(t *testing.T, address string) {
		if a, err := netip.ParseAddr(address); err == nil {
			checkNarrow(t, public, private, a)
		}
	})
}

func checkNarrow(t interface{ Fatalf(string, ...any) }, public, private policy, a netip.Addr) {
	if public.allows(a) && !private.allows(a) {
		t.Fatalf("%s is allowed only without private networks", a)
	}
	if a.Is4() {
		if mapped := netip.AddrFrom16(a.As16()); public.allows(a) != public.allows(mapped) {
			t.Fatalf("%s and %s are the same address, judged differently", a, mapped)
		}
	}
	b := a.Unmap()
	special := !b.IsGlobalUnicast() || b.IsPrivate() || b.IsLoopback() || a.Zone() != ""
	if special && public.allows(a) {
		t.Fatalf("%s is not public, but allowed", a)
	}
}
