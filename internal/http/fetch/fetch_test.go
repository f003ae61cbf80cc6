package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
)

// open returns a client that may connect to the tests' servers.
func open() *Client {
	return New(Options{AllowPrivate: true, Total: time.Minute, Stall: time.Minute})
}

// serve starts a server and returns its URL.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func TestFetch(t *testing.T) {
	const content = "0123456789"
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	fmt.Fprint(zip, strings.Repeat("0", 1<<20))
	zip.Close()

	origin := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			io.WriteString(w, content)
		case "/chunked":
			w.(http.Flusher).Flush()
			io.WriteString(w, content)
		case "/auth":
			if user, password, _ := r.BasicAuth(); user != "a" || password != "b" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			io.WriteString(w, content)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(compressed.Bytes())
		case "/half-gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(compressed.Bytes()[:compressed.Len()/2])
		case "/no-gzip":
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, content)
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, content)
		case "/short": // announces more bytes than it sends
			w.Header().Set("Content-Length", "11")
			io.WriteString(w, content)
		case "/endless":
			for r.Context().Err() == nil {
				io.WriteString(w, content)
			}
		case "/headers":
			w.Header().Set("X", strings.Repeat("x", maxHeaderBytes))
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/ftp":
			http.Redirect(w, r, "ftp://example.com/file", http.StatusFound)
		case "/local":
			http.Redirect(w, r, "file:///etc/hostname", http.StatusFound)
		case "/partial":
			w.WriteHeader(http.StatusPartialContent)
		default:
			var hops int
			if n, _ := fmt.Sscanf(r.URL.Path, "/redirect/%d", &hops); n == 0 {
				http.NotFound(w, r)
			} else if hops == 0 {
				io.WriteString(w, content)
			} else {
				http.Redirect(w, r, fmt.Sprintf("/redirect/%d", hops-1), http.StatusTemporaryRedirect)
			}
		}
	})
	tests := []struct {
		url   string
		limit int64
		want  failure.Code
	}{
		{origin + "/file", 10, ""},
		{origin + "/file", 9, failure.TooLarge},
		{origin + "/chunked", 10, ""},
		{origin + "/chunked", 9, failure.TooLarge},
		{origin + "/endless", 1 << 20, failure.TooLarge},
		{origin + "/short", 100, failure.Unavailable},
		{origin + "/gzip", 1 << 20, "gzip"},
		{origin + "/gzip", 1<<20 - 1, failure.TooLarge}, // as it is decompressed
		{origin + "/half-gzip", 1 << 20, failure.Unavailable},
		{origin + "/no-gzip", 1 << 20, failure.NotFound},
		{origin + "/brotli", 1 << 20, failure.NotFound},
		{origin + "/headers", 10, failure.Unavailable},
		{origin + "/partial", 10, failure.NotFound},
		{origin + "/missing", 10, failure.NotFound},
		{origin + "/redirect/5", 10, ""},
		{origin + "/redirect/6", 10, failure.NotFound},
		{origin + "/loop", 10, failure.NotFound},
		{origin + "/ftp", 10, failure.NotFound},
		{origin + "/local", 10, failure.NotFound},
		{strings.Replace(origin, "//", "//a:b@", 1) + "/auth", 10, ""},
		{origin + "/auth", 10, failure.NotFound},
		{"http://127.0.0.1:1/refused", 10, failure.NoHost},
		{strings.Replace(origin, "http:", "https:", 1) + "/file", 10, failure.NotFound},
		{"http://name.invalid/", 10, failure.NotFound},
		{"http://INVALID./", 10, failure.NotFound},
		{"http:///file", 10, failure.NotFound},
		{"http://:80/file", 10, failure.NotFound},
		{"/file", 10, failure.NotFound},
		{"ftp://example.com/file", 10, failure.NotFound},
		{"file:///etc/hostname", 10, failure.NotFound},
		{"http://exa mple.com/", 10, failure.NotFound},
		{"", 10, failure.NotFound},
	}
	for _, test := range tests {
		var got bytes.Buffer
		err := open().Fetch(t.Context(), test.url, &got, test.limit)
		if test.want == "gzip" {
			if err != nil || got.String() != strings.Repeat("0", 1<<20) {
				t.Errorf("%s: got %d bytes, %v, want the file", test.url, got.Len(), err)
			}
			continue
		}
		if code := failure.CodeOf(err); code != test.want {
			t.Errorf("%s, limit %d: got %v, want code %q", test.url, test.limit, err, test.want)
		}
		if err == nil && got.String() != content {
			t.Errorf("%s: got %q, want %q", test.url, got.String(), content)
		}
	}
}

// TestDetails reads what clients learn of a fetch that failed.
func TestDetails(t *testing.T) {
	origin := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cut":
			w.Header().Set("Content-Length", "9000000")
			w.Write(make([]byte, 3_000_000))
		case "/cut-chunks":
			w.Write(make([]byte, 3_000_000))
			panic(http.ErrAbortHandler)
		case "/cut-gzip", "/cut-gzip-chunks":
			w.Header().Set("Content-Encoding", "gzip")
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(make([]byte, 1000))
			z.Close()
			w.Write(packed.Bytes()[:packed.Len()-9])
			if r.URL.Path == "/cut-gzip-chunks" {
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		case "/stall":
			w.Header().Set("Content-Length", "9000000")
			hang(strings.Repeat("0", 3_000_000))(w, r)
		case "/stall-gzip":
			w.Header().Set("Content-Encoding", "gzip")
			hang("\x1f\x8b")(w, r)
		case "/header-gzip":
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "\x1f\x8b")
		case "/empty-gzip":
			w.Header().Set("Content-Encoding", "gzip")
		case "/old":
			w.WriteHeader(http.StatusForbidden)
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	for path, want := range map[string]failure.Details{
		"/cut":             {Status: 200, Cause: "the answer was cut off at 3.0 MB of 9.0 MB"},
		"/cut-chunks":      {Status: 200, Cause: "the answer was cut off at 3.0 MB"},
		"/cut-gzip":        {Status: 200, Cause: "the compressed answer is damaged, or was cut off"},
		"/cut-gzip-chunks": {Status: 200, Cause: "the answer was cut off at 1000 bytes"},
		"/stall":           {Cause: "the server stopped sending at 3.0 MB of 9.0 MB"},
		"/stall-gzip":      {Cause: "the server stopped sending at 0 bytes"},
		"/header-gzip":     {Status: 200, Cause: "the compressed answer is damaged, or was cut off"},
		"/empty-gzip":      {Status: 200, Cause: "the compressed answer is damaged, or was cut off"},
		"/old":             {Status: 403, Cause: "the server answered 403; perhaps the URL has expired, or needs a sign-in"},
		"/down":            {Status: 502, Cause: "the server answered 502"},
		"/brotli":          {Cause: `the server compressed the file by "br"`},
	} {
		client := New(Options{AllowPrivate: true, Total: time.Minute, Stall: time.Second})
		err := client.Fetch(t.Context(), origin+path, io.Discard, 1<<30)
		if e, ok := errors.AsType[*failure.Error](err); !ok || e.Failure.Details != want || strings.Contains(err.Error(), "-1") {
			t.Errorf("%s: got %+v, want %+v", path, err, want)
		}
	}
}

// TestCauses reads why there was no answer.
func TestCauses(t *testing.T) {
	plain, closed := serve(t, func(http.ResponseWriter, *http.Request) {}), httptest.NewServer(nil)
	closed.Close()
	distrusted := httptest.NewTLSServer(nil)
	t.Cleanup(distrusted.Close)
	for url, want := range map[string]string{
		closed.URL: "the host accepts no connections",
		"https://" + strings.TrimPrefix(plain, "http://"): "the server speaks no TLS; perhaps the URL should begin with http:",
		distrusted.URL: "the certificate of the host can't be trusted",
	} {
		err := New(Options{AllowPrivate: true, Total: time.Minute}).Fetch(t.Context(), url, io.Discard, 1)
		if e, ok := errors.AsType[*failure.Error](err); !ok || e.Failure.Details.Cause != want {
			t.Errorf("%s: got %+v, want %s", url, err, want)
		}
	}
}

// TestPrivate fetches from this machine, with its address in every known notation.
func TestPrivate(t *testing.T) {
	asked := false
	origin := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	u, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	client := New(Options{PrivateHint: ": --private allows those", Total: time.Minute, Stall: time.Minute})
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "2130706433", "0x7f000001", "0x7f.0.0.1",
		"017700000001", "0177.0.0.1", "127.1", "127.0.1", "0.0.0.0", "0", "[::]", "[::1]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::1%25lo]", "%31%32%37.0.0.1", "①②⑦.0.0.1", "127。0。0。1",
	} {
		err := client.Fetch(t.Context(), "http://"+host+":"+u.Port()+"/", io.Discard, 1)
		a, notAddress := netip.ParseAddr(strings.Trim(host, "[]"))
		want := failure.NotFound
		if newPolicy(true).allows(a) {
			want = failure.PrivateHost
		}
		if code := failure.CodeOf(err); err == nil || notAddress == nil && code != want {
			t.Errorf("%s: got %v, want an error, of an address with code %q", host, err, want)
		}
		if failure.CodeOf(err) == failure.PrivateHost && !strings.HasSuffix(err.Error(), "is in a private network: --private allows those") {
			t.Errorf("%s: got %v, want it to end with the hint", host, err)
		}
	}
	if asked {
		t.Error("a request reached this machine")
	}
}

func TestRedirectTellsNothing(t *testing.T) {
	var got *http.Request
	second := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, second, http.StatusFound)
	})
	source := strings.Replace(first, "//", "//user:password@", 1) + "/?signature=secret"
	if err := open().Fetch(t.Context(), source, io.Discard, 10); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Referer", "Authorization", "Cookie"} {
		if value := got.Header.Get(name); value != "" {
			t.Errorf("%s: got %q, want none", name, value)
		}
	}
}

func TestErrorsHoldNoURL(t *testing.T) {
	err := open().Fetch(t.Context(), "http://user:password@127.0.0.1:1/?signature=secret", io.Discard, 1)
	for _, secret := range []string{"password", "secret"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds %q: %v", secret, err)
		}
	}
}

// hang is a handler that sends the bytes, and then waits until the client disconnects.
func hang(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, content)
		if content != "" {
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func TestSlowSources(t *testing.T) {
	silent, stalling := serve(t, hang("")), serve(t, hang("some"))
	dripping := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	})
	short, long := 50*time.Millisecond, time.Hour
	tests := []struct {
		name, url    string
		total, stall time.Duration
		want         failure.Code
	}{
		{"no header, stall", silent, long, short, failure.Unavailable},
		{"no header, total", silent, short, long, failure.Unavailable},
		{"body stops, stall", stalling, long, short, failure.Unavailable},
		{"body stops, total", stalling, short, long, failure.TooSlow},
		{"body drips, total", dripping, short, long, failure.TooSlow},
	}
	for _, test := range tests {
		client := New(Options{AllowPrivate: true, Total: test.total, Stall: test.stall})
		err := client.Fetch(t.Context(), test.url, io.Discard, 1<<30)
		if code := failure.CodeOf(err); code != test.want {
			t.Errorf("%s: got %v, want code %q", test.name, err, test.want)
		}
	}
}

func TestCallerStops(t *testing.T) {
	for _, content := range []string{"", "some"} {
		ctx, cancel := context.WithCancel(t.Context())
		source := serve(t, func(w http.ResponseWriter, r *http.Request) {
			time.AfterFunc(20*time.Millisecond, cancel)
			hang(content)(w, r)
		})
		if err := open().Fetch(ctx, source, io.Discard, 10); !errors.Is(err, context.Canceled) {
			t.Errorf("after %q: got %v, want %v", content, err, context.Canceled)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorIsOurs(t *testing.T) {
	source := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "some") })
	if code := failure.CodeOf(open().Fetch(t.Context(), source, full{}, 10)); code != failure.Internal {
		t.Errorf("got code %q, want %q", code, failure.Internal)
	}
}
