package fetch

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
)

// TestNameOfThisMachine resolves a public name to this machine, as the owner of a name can do
// after a look-up has passed the checks (DNS rebinding).
func TestNameOfThisMachine(t *testing.T) {
	asked := false
	origin := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	u, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]failure.Code{
		"127.0.0.1": failure.PrivateHost, "::1": failure.PrivateHost, "::ffff:127.0.0.1": failure.PrivateHost,
		"0.0.0.0": failure.NotFound, "::": failure.NotFound,
	} {
		resolver := answering(t, netip.MustParseAddr(answer))
		source := "http://video.example:" + u.Port() + "/"

		client := newClient(Options{Total: time.Minute, Stall: time.Minute}, resolver)
		err := client.Fetch(t.Context(), source, io.Discard, 1)
		if code := failure.CodeOf(err); code != want || asked {
			t.Errorf("%s: got %v, asked %t, want code %q", answer, err, asked, want)
		}
	}

	// If private addresses are allowed, the same name leads here, so the resolver works.
	client := newClient(Options{AllowPrivate: true, Total: time.Minute, Stall: time.Minute},
		answering(t, netip.MustParseAddr("127.0.0.1")))
	if err := client.Fetch(t.Context(), "http://video.example:"+u.Port()+"/", io.Discard, 1); err != nil || !asked {
		t.Errorf("private networks allowed: got %v, asked %t, want no error", err, asked)
	}
}

// TestNames has names that do not exist, and resolvers that fail.
func TestNames(t *testing.T) {
	failing := func(err error) *net.Resolver {
		return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, err }}
	}
	for name, c := range map[string]struct {
		resolver *net.Resolver
		want     failure.Code
	}{
		"no such name": {saying(t, func(query []byte) []byte { return fail(query, 3) }), failure.NoHost},
		"server fails": {saying(t, func(query []byte) []byte { return fail(query, 2) }), failure.Unavailable},
		"no network":   {failing(&net.OpError{Op: "dial", Err: syscall.ENETUNREACH}), failure.Unavailable},
	} {
		err := newClient(Options{Total: time.Minute, Stall: time.Minute}, c.resolver).Fetch(t.Context(), "http://video.example./", io.Discard, 1)
		if code := failure.CodeOf(err); code != c.want {
			t.Errorf("%s: got %v, want code %q", name, err, c.want)
		}
	}
}

// answering returns a resolver that answers every question with the address.
func answering(t *testing.T, answer netip.Addr) *net.Resolver {
	t.Helper()
	return saying(t, func(query []byte) []byte { return reply(query, answer) })
}

// fail answers a DNS query with no record and a response code.
func fail(query []byte, code byte) []byte {
	r := reply(query, netip.Addr{})
	r[3] |= code
	return r
}

// saying returns a resolver whose server answers with f.
func saying(t *testing.T, f func(query []byte) []byte) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		query := make([]byte, 512)
		for {
			n, client, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			server.WriteTo(f(query[:n]), client)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// reply answers a DNS query with one question (RFC 1035, section 4). It has no record if the
// question is for the other type of address.
func reply(query []byte, answer netip.Addr) []byte {
	const header = 12
	end := header
	for query[end] != 0 { // the labels of the name
		end += int(query[end]) + 1
	}
	question := query[header : end+5]
	kind := uint16(1) // A
	if answer.Is6() {
		kind = 28 // AAAA
	}
	asked := binary.BigEndian.Uint16(question[len(question)-4:])

	r := append([]byte{}, query[:2]...) // the query's id
	r = append(r, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
	r = append(r, question...)
	if answer.IsValid() && asked == kind {
		r[7] = 1                                         // one answer
		r = append(r, 0xc0, header, 0, byte(kind), 0, 1) // of the question's name
		r = append(r, 0, 0, 0, 0, 0, byte(len(answer.AsSlice())))
		r = append(r, answer.AsSlice()...)
	}
	return r
}
