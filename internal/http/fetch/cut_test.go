package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
)

// cutting serves a file in parts of 4 bytes, or as many as part says, and closes the connection after each part. It records
// which ranges were asked for.
type cutting struct {
	header http.Header // of each answer
	whole  bool        // it ignores ranges
	parts  bool        // it sends only a part of the requested range
	blind  bool        // it sends a range whatever the version
	later  http.Header // of answers after the first, if not nil
	asked  []string
	part   int
}

const cutFile = "0123456789abcdef"

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := c.header
	if len(c.asked) > 0 && c.later != nil {
		header = c.later
	}
	c.asked = append(c.asked, r.Header.Get("Range"))
	for name, values := range header {
		w.Header()[name] = values
	}
	from := 0
	if version := r.Header.Get("If-Range"); !c.whole && version != "" && (c.blind || version == header.Get("ETag") || version == header.Get("Last-Modified")) {
		from, _ = strconv.Atoi(strings.Trim(r.Header.Get("Range"), "bytes=-"))
	}
	to, next := len(cutFile), min(from+cmp.Or(c.part, 4), len(cutFile))
	if c.parts && from > 0 {
		to = next
	}
	w.Header().Set("Content-Length", strconv.Itoa(to-from))
	if from > 0 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(cutFile)))
		w.WriteHeader(http.StatusPartialContent)
	}
	io.WriteString(w, cutFile[from:next])
	w.(http.Flusher).Flush()
	if next < to {
		panic(http.ErrAbortHandler)
	}
}

// TestCutOff fetches from servers that close the connection in the middle. The fetch must continue
// if that is safe. Otherwise it must make no more requests, and let the caller try again.
func TestCutOff(t *testing.T) {
	tagged := http.Header{"Etag": {`"v1"`}}
	dated := http.Header{"Last-Modified": {"Sun, 06 Nov 1994 08:49:37 GMT"}}
	all := []string{"", "bytes=4-", "bytes=8-", "bytes=12-"}
	for name, c := range map[string]struct {
		server cutting
		code   failure.Code
		asked  []string
	}{
		"by tag":                  {cutting{header: tagged}, "", all},
		"by time":                 {cutting{header: dated}, "", all},
		"weak tag":                {cutting{header: http.Header{"Etag": {`W/"v1"`}}}, failure.Unavailable, all[:1]},
		"no version":              {cutting{}, failure.Unavailable, all[:1]},
		"no ranges":               {cutting{header: tagged, whole: true}, failure.Unavailable, all[:2]},
		"new version":             {cutting{header: tagged, later: http.Header{"Etag": {`"v2"`}}}, failure.Unavailable, all[:2]},
		"in parts":                {cutting{header: tagged, parts: true}, "", all},
		"rest of another version": {cutting{header: tagged, later: http.Header{"Etag": {`"v2"`}}, blind: true}, failure.Unavailable, all[:2]},
		"rest of another time":    {cutting{header: dated, later: http.Header{"Last-Modified": {"Sun, 06 Nov 1994 08:49:38 GMT"}}, blind: true}, failure.Unavailable, all[:2]},
	} {
		server := httptest.NewServer(&c.server)
		client := open()
		client.pause = time.Millisecond
		var got bytes.Buffer
		err := client.Fetch(t.Context(), server.URL, &got, 16)
		if code := failure.CodeOf(err); code != c.code {
			t.Errorf("%s: got %v, want code %q", name, err, c.code)
		}
		if err == nil && got.String() != cutFile {
			t.Errorf("%s: got %q, want %q", name, &got, cutFile)
		}
		if !slices.Equal(c.server.asked, c.asked) {
			t.Errorf("%s: asked for %q, want %q", name, c.server.asked, c.asked)
		}
		server.Close()
	}
}

// TestCutOffLonger has a server that is out of reach for three tries after the connection was cut. The fetch must go on with the rest.
func TestCutOffLonger(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	silent := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	busy := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	for name, instead := range map[string]string{"refused": closed.URL, "closed": silent, "busy": busy} {
		served := cutting{header: http.Header{"Etag": {`"v1"`}}, part: 8}
		server := httptest.NewServer(&served)
		client := open()
		client.pause = time.Millisecond
		transport := client.http.Transport.(*http.Transport)
		dial, dials := transport.DialContext, 0
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials++; dials > 1 && dials < 5 {
				address = strings.TrimPrefix(instead, "http://")
			}
			return dial(ctx, network, address)
		}
		var got bytes.Buffer
		if err := client.Fetch(t.Context(), server.URL, &got, 16); err != nil || got.String() != cutFile || dials != 5 {
			t.Errorf("%s: got %q after %d connections, %v", name, &got, dials, err)
		}
		server.Close()
	}
}

// TestCutOffForever has a server that sends some bytes and then never any more.
func TestCutOffForever(t *testing.T) {
	calls := 0
	source := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Content-Length", "9")
			io.WriteString(w, "some")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Range", "bytes 4-8/9")
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	client := open()
	client.pause = time.Millisecond
	err := client.Fetch(t.Context(), source, io.Discard, 9)
	if code := failure.CodeOf(err); code != failure.Unavailable || calls != 1+maxCuts {
		t.Errorf("got %v after %d calls, want code %q after %d", err, calls, failure.Unavailable, 1+maxCuts)
	}
}

// TestStatus has servers that answer with something other than the file.
func TestStatus(t *testing.T) {
	date := "Sun, 06 Nov 1994 08:49:37 GMT"
	for _, c := range []struct {
		status int
		header http.Header
		code   failure.Code
		after  time.Duration
	}{
		{204, nil, failure.NotFound, 0},
		{302, nil, failure.NotFound, 0}, // without a Location
		{400, nil, failure.NotFound, 0},
		{401, nil, failure.NotFound, 0},
		{403, nil, failure.NotFound, 0},
		{404, nil, failure.NotFound, 0},
		{410, nil, failure.NotFound, 0},
		{408, nil, failure.Unavailable, 0},
		{425, nil, failure.Unavailable, 0},
		{429, http.Header{"Retry-After": {"7"}}, failure.Unavailable, 7 * time.Second},
		{500, nil, failure.Unavailable, 0},
		{502, nil, failure.Unavailable, 0},
		{503, http.Header{"Retry-After": {"Sun, 06 Nov 1994 08:51:37 GMT"}, "Date": {date}}, failure.Unavailable, 2 * time.Minute},
		{503, http.Header{"Retry-After": {"Sun, 06 Nov 1994 08:40:00 GMT"}, "Date": {date}}, failure.Unavailable, 0},
		{503, http.Header{"Retry-After": {"-1"}}, failure.Unavailable, 0},
		{503, http.Header{"Retry-After": {"soon"}}, failure.Unavailable, 0},
		{504, http.Header{"Retry-After": {"999999999"}}, failure.Unavailable, 999999999 * time.Second},
	} {
		source := serve(t, func(w http.ResponseWriter, r *http.Request) {
			for name, values := range c.header {
				w.Header()[name] = values
			}
			w.WriteHeader(c.status)
		})
		err := open().Fetch(t.Context(), source, io.Discard, 10)
		var after time.Duration
		if e, ok := errors.AsType[*failure.Error](err); ok {
			after = e.RetryAfter
		}
		if code := failure.CodeOf(err); code != c.code || after != c.after {
			t.Errorf("%d %v: got %v, after %s, want code %q after %s", c.status, c.header, err, after, c.code, c.after)
		}
	}
}

// TestDistrusted fetches from a server whose certificate is not trusted.
func TestDistrusted(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	if err := open().Fetch(t.Context(), server.URL, io.Discard, 1); failure.CodeOf(err) != failure.NoHost {
		t.Errorf("got %v, want code %q", err, failure.NoHost)
	}
}

// TestHostFault has a machine that can open no more files. That says nothing about the URL or the
// network.
func TestHostFault(t *testing.T) {
	err := &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	if got := explain(&url.Error{Op: "Get", URL: "http://secret/", Err: err}); got != error(err) {
		t.Errorf("got %v, want it as it is", got)
	}
}
