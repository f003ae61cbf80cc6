package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/version"
)

// zeros is a file of any size. It counts the reads.
type zeros struct{ reads atomic.Int64 }

func (z *zeros) ReadAt(p []byte, _ int64) (int, error) {
	z.reads.Add(1)
	clear(p)
	return len(p), nil
}

// storage answers each PUT with the next status, after it has read the file. A status 0 closes the
// connection in the middle of the file.
type storage struct {
	statuses []int
	header   http.Header // of each answer
	got      []string    // method, path, size, coding and content of each file
	last     http.Header // of the last call
}

func (s *storage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := s.statuses[min(len(s.got), len(s.statuses)-1)]
	limit := int64(1 << 20)
	if status == 0 {
		limit = 1
	}
	content, _ := io.ReadAll(io.LimitReader(r.Body, limit))
	s.got = append(s.got, fmt.Sprintf("%s %s %d %v %q", r.Method, r.URL, r.ContentLength, r.TransferEncoding, content))
	s.last = r.Header
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, values := range s.header {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	io.WriteString(w, "<StringToSign>secret</StringToSign>")
}

// sendingClient returns a client whose pauses are short.
func sendingClient() *Client {
	c := open()
	c.pause = time.Millisecond
	return c
}

// TestSend sends a file to servers that take it, at once or later, and to servers that don't.
func TestSend(t *testing.T) {
	content := "\x00file\r\n" + strings.Repeat("ü", 100)
	whole := fmt.Sprintf("PUT /bucket/talk.mp4?signature=secret 207 [] %q", content)
	wait := http.Header{"Retry-After": {"1"}}
	for name, c := range map[string]struct {
		server storage
		code   failure.Code
		status int // in the error
		tries  int
	}{
		"ok":           {storage{statuses: []int{200}}, "", 0, 1},
		"created":      {storage{statuses: []int{201}}, "", 0, 1},
		"no content":   {storage{statuses: []int{204}}, "", 0, 1},
		"later":        {storage{statuses: []int{503, 503, 200}}, "", 0, 3},
		"other faults": {storage{statuses: []int{429, 408, 500, 502, 201}}, "", 0, 5},
		"cut off":      {storage{statuses: []int{0, 0, 200}}, "", 0, 3},
		"never":        {storage{statuses: []int{503}}, failure.Unavailable, 503, 1 + maxCuts},
		"much later":   {storage{statuses: []int{503, 200}, header: wait}, failure.Unavailable, 503, 1},
		"expired":      {storage{statuses: []int{403, 200}}, failure.NotFound, 403, 1},
		"no bucket":    {storage{statuses: []int{404, 200}}, failure.NotFound, 404, 1},
		"too large":    {storage{statuses: []int{413, 200}}, failure.NotFound, 413, 1},
		"redirect":     {storage{statuses: []int{307, 200}, header: http.Header{"Location": {"/elsewhere"}}}, failure.NotFound, 307, 1},
		"see other":    {storage{statuses: []int{303, 200}, header: http.Header{"Location": {"/elsewhere"}}}, failure.NotFound, 303, 1},
		"not modified": {storage{statuses: []int{304, 200}}, failure.NotFound, 304, 1},
	} {
		server := httptest.NewServer(&c.server)
		err := sendingClient().Send(t.Context(), server.URL+"/bucket/talk.mp4?signature=secret", strings.NewReader(content+"more"), int64(len(content)), "video/mp4")
		server.Close()
		answer, _ := errors.AsType[*statusError](err)
		if code := failure.CodeOf(err); code != c.code || (c.status != 0) != (answer != nil) || answer != nil && answer.HTTPStatusCode() != c.status {
			t.Errorf("%s: got %v, want code %q and status %d", name, err, c.code, c.status)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error has a signature: %v", name, err)
		}
		want := slices.Repeat([]string{whole}, c.tries)
		for i := range want {
			if c.server.statuses[min(i, len(c.server.statuses)-1)] == 0 {
				want[i] = fmt.Sprintf("PUT /bucket/talk.mp4?signature=secret 207 [] %q", content[:1])
			}
		}
		if !slices.Equal(c.server.got, want) {
			t.Errorf("%s: got %q, want %q", name, c.server.got, want)
		}
		for header, value := range map[string]string{"Content-Type": "video/mp4", "User-Agent": "lipsync/" + version.Number, "X-Ms-Blob-Type": "BlockBlob", "Referer": "", "Authorization": ""} {
			if got := c.server.last.Get(header); got != value {
				t.Errorf("%s: %s is %q, want %q", name, header, got, value)
			}
		}
	}
}

// TestSendRetryAfter checks that the error has the pause that a server asks for.
func TestSendRetryAfter(t *testing.T) {
	origin := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	if got := failure.RetrySeconds(sendingClient().Send(t.Context(), origin, strings.NewReader("file"), 4, "video/mp4")); got != 90 {
		t.Errorf("got %d s, want 90", got)
	}
}

// TestSendRefusedEarly checks that a server that refuses gets no bytes of the file.
func TestSendRefusedEarly(t *testing.T) {
	origin := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	client, file := sendingClient(), new(zeros)
	client.sender.Transport.(*http.Transport).ExpectContinueTimeout = time.Minute
	err := client.Send(t.Context(), origin, file, 1<<40, "video/mp4")
	if n := file.reads.Load(); failure.CodeOf(err) != failure.NotFound || n > 0 {
		t.Errorf("got %v after %d reads, want %q and none", err, n, failure.NotFound)
	}
}

// TestSendRefused sends to addresses and URLs that the client refuses. No server is asked.
func TestSendRefused(t *testing.T) {
	asked := false
	origin := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	u, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	private := New(Options{Total: time.Minute, Stall: time.Minute})
	rebound := newClient(Options{Total: time.Minute, Stall: time.Minute}, answering(t, netip.MustParseAddr("127.0.0.1")))
	for _, c := range []struct {
		client *Client
		url    string
		want   failure.Code
	}{
		{private, origin, failure.PrivateHost},
		{private, "http://[::ffff:127.0.0.1]:" + u.Port(), failure.PrivateHost},
		{private, "http://0.0.0.0:" + u.Port(), failure.NotFound},
		{private, "http://169.254.169.254/latest", failure.NotFound},
		{rebound, "http://storage.example:" + u.Port(), failure.PrivateHost},
		{sendingClient(), "https" + strings.TrimPrefix(origin, "http"), failure.NotFound},
		{sendingClient(), "http://127.0.0.1:1/refused", failure.NoHost},
		{sendingClient(), "http://name.invalid/", failure.NotFound},
		{sendingClient(), "file:///etc/hostname", failure.NotFound},
		{sendingClient(), "http://exa mple.com/", failure.NotFound},
		{sendingClient(), "", failure.NotFound},
	} {
		err := c.client.Send(t.Context(), c.url+"?signature=secret", strings.NewReader("file"), 4, "video/mp4")
		if code := failure.CodeOf(err); code != c.want || asked || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, asked %t, want code %q without the signature", c.url, err, asked, c.want)
		}
	}
}

// deaf starts a server that reads only the headers of a call, and asks for the rest. It returns its URL.
func deaf(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { connection.Close() })
			headers := bufio.NewReader(connection)
			for line := ""; line != "\r\n" && err == nil; line, err = headers.ReadString('\n') {
			}
			io.WriteString(connection, "HTTP/1.1 100 Continue\r\n\r\n")
		}
	}()
	return "http://" + listener.Addr().String()
}

// TestSendSlowly sends to servers that don't take the file, take it byte by byte, or don't answer.
func TestSendSlowly(t *testing.T) {
	silent := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	dripping := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		for b := make([]byte, 1); t.Context().Err() == nil; time.Sleep(time.Millisecond) {
			r.Body.Read(b)
		}
	})
	short, long := 100*time.Millisecond, time.Hour
	for _, c := range []struct {
		name, url    string
		size         int64
		total, stall time.Duration
		want         failure.Code
		says         string
	}{
		{"nothing is taken, stall", deaf(t), 1 << 40, long, short, failure.Unavailable, "nothing was taken for 100ms"},
		{"nothing is taken, total", deaf(t), 1 << 40, short, long, failure.TooSlow, ""},
		{"a drip, total", dripping, 1 << 40, short, long, failure.TooSlow, ""},
		{"no answer, stall", silent, 4, long, short, failure.Unavailable, ""},
		{"no answer, total", silent, 4, short, long, failure.TooSlow, ""},
	} {
		client := New(Options{AllowPrivate: true, Total: c.total, Stall: c.stall})
		client.pause = time.Millisecond
		err := client.Send(t.Context(), c.url, new(zeros), c.size, "video/mp4")
		if code := failure.CodeOf(err); code != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want code %q and %q", c.name, err, c.want, c.says)
		}
	}
}

// TestSending reads a body slowly. Only a longer time without a read ends its request, before the end of the file.
func TestSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for content, want := range map[string]bool{"abc": false, "abcd": true} {
			ended := false
			body := &sending{strings.NewReader(content), new(atomic.Int64), time.Minute, time.AfterFunc(time.Minute, func() { ended = true })}
			for range 4 {
				time.Sleep(59 * time.Second)
				synctest.Wait()
				if ended {
					t.Errorf("%q: ended within a minute", content)
				}
				body.Read(make([]byte, 1))
			}
			time.Sleep(61 * time.Second)
			synctest.Wait()
			if ended != want {
				t.Errorf("%q: ended %t, want %t", content, ended, want)
			}
		}
	})
}

// TestSenderStops ends the context of a Send while a server takes nothing, and in a pause.
func TestSenderStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	busy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel()
	})
	client := open()
	client.pause = time.Hour
	if err := client.Send(ctx, busy, strings.NewReader("file"), 4, "video/mp4"); !errors.Is(err, context.Canceled) {
		t.Errorf("in a pause: got %v, want %v", err, context.Canceled)
	}
	ctx, cancel = context.WithCancel(t.Context())
	taking := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		r.Body.Read(make([]byte, 1))
		cancel()
		io.Copy(io.Discard, r.Body)
	})
	if err := open().Send(ctx, taking, new(zeros), 1<<40, "video/mp4"); !errors.Is(err, context.Canceled) {
		t.Errorf("at work: got %v, want %v", err, context.Canceled)
	}
}
