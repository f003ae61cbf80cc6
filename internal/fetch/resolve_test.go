package fetch

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// TestNameOfThisMachine resolves an innocent name to this machine, as a name
// whose owner rebinds it would be once it has passed a look-up.
func TestNameOfThisMachine(t *testing.T) {
	asked := false
	origin := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	u, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "::"} {
		resolver := answering(t, netip.MustParseAddr(answer))
		source := "http://video.example:" + u.Port() + "/"

		client := newClient(Options{Total: time.Minute, Stall: time.Minute}, resolver)
		err := client.Fetch(t.Context(), source, io.Discard, 1)
		if code := lipsync.CodeOf(err); code != lipsync.NotFound || asked {
			t.Errorf("%s: got %v, asked %t, want code %q", answer, err, asked, lipsync.NotFound)
		}
	}

	// The resolver works: where private addresses are open, the name leads here.
	client := newClient(Options{AllowPrivate: true, Total: time.Minute, Stall: time.Minute},
		answering(t, netip.MustParseAddr("127.0.0.1")))
	if err := client.Fetch(t.Context(), "http://video.example:"+u.Port()+"/", io.Discard, 1); err != nil || !asked {
		t.Errorf("private networks open: got %v, asked %t, want no error", err, asked)
	}
}

// answering returns a resolver that gives the one answer to every question.
func answering(t *testing.T, answer netip.Addr) *net.Resolver {
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
			server.WriteTo(reply(query[:n], answer), client)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// reply answers a DNS query (RFC 1035, section 4) of one question, with no
// record if the question is not for the answer's type of address.
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
	if asked == kind {
		r[7] = 1                                         // one answer
		r = append(r, 0xc0, header, 0, byte(kind), 0, 1) // of the question's name
		r = append(r, 0, 0, 0, 0, 0, byte(len(answer.AsSlice())))
		r = append(r, answer.AsSlice()...)
	}
	return r
}
