package awstest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
)

// TestPortTakenMeanwhile lets another process take the port after it was chosen. In one case the
// emulator ends because of that; in the other case the other process answers in its place.
func TestPortTakenMeanwhile(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for name, taken := range map[string]net.Addr{
		"silent":         silent.Addr(),
		"other server":   other.Listener.Addr(),
		"other emulator": addressOf(t, Shared(t)),
	} {
		t.Run(name, func(t *testing.T) {
			port := taken.(*net.TCPAddr).Port
			asked := 0
			e, err := Options{}.start(t.Context(), func(ctx context.Context, wanted int) (int, error) {
				if asked++; asked == 1 {
					return port, nil
				}
				return free(ctx, wanted)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Stop()
			if got, err := e.ask(t.Context()); err != nil || got != e.name || asked != 2 {
				t.Errorf("got %q (error %v) at %s, asked for %d ports, want %q and 2", got, err, e.URL, asked, e.name)
			}
			_, err = Options{Port: port}.start(t.Context(), func(context.Context, int) (int, error) { return port, nil })
			if !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("that port and no other: got %v, want EADDRINUSE", err)
			}
		})
	}
}

func addressOf(t *testing.T, e *Emulator) net.Addr {
	t.Helper()
	address, err := net.ResolveTCPAddr("tcp", e.URL[len("http://"):])
	if err != nil {
		t.Fatal(err)
	}
	return address
}
