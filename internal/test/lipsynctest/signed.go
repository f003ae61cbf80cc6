package lipsynctest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
)

// resolve makes a signed URL absolute.
func (o ObjectsFixture) resolve(t *testing.T, u *url.URL) string {
	t.Helper()
	base, err := url.Parse(o.Base)
	must(t, err)
	return base.ResolveReference(u).String()
}

// do sends an HTTP request with a body and returns the answer and its body.
func do(t *testing.T, method, address, body string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	must(t, err)
	for name := range header {
		r.Header.Set(name, header.Get(name))
	}
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response, string(text)
}

// wantRefused checks that the answer is a refusal.
func wantRefused(t *testing.T, what string, response *http.Response, body string) {
	t.Helper()
	if response.StatusCode < 400 || response.StatusCode >= 500 {
		t.Errorf("%s: got %s %q, want a refusal", what, response.Status, body)
	}
	if response.Header.Get("Content-Type") != "application/json" {
		return // a cloud's storage answers in its own way
	}
	var answer struct{ Error string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Error == "" {
		t.Errorf("%s: got %q, want a JSON object with an error", what, body)
	}
}

func (o ObjectsFixture) signGet(t *testing.T, key string) string {
	t.Helper()
	u, err := o.SignGet(t.Context(), key, "naïve \"name\".mp4", o.Now().Add(time.Hour))
	must(t, err)
	return o.resolve(t, u)
}

func testSignedGet(t *testing.T, o ObjectsFixture) {
	put(t, o, "outputs/a/1.mp4", "the video")
	address := o.signGet(t, "outputs/a/1.mp4")
	response, body := do(t, "GET", address, "", nil)
	want(t, "status", response.StatusCode, 200)
	want(t, "body", body, "the video")
	disposition := response.Header.Get("Content-Disposition")
	want(t, "has the name "+disposition, strings.Contains(disposition, "name"), true)
}

func testSignedGetType(t *testing.T, o ObjectsFixture) {
	put(t, o, "outputs/a/1", "the video")
	for name, kind := range map[string]string{
		"a.mp4": "video/mp4", "a.mov": "video/quicktime", "a.b.webm": "video/webm", "a.jpg": "image/jpeg",
	} {
		u, err := o.SignGet(t.Context(), "outputs/a/1", name, o.Now().Add(time.Hour))
		must(t, err)
		response, _ := do(t, "GET", o.resolve(t, u), "", nil)
		want(t, "type of "+name, response.Header.Get("Content-Type"), kind)
	}
}

func testSignedRange(t *testing.T, o ObjectsFixture) {
	put(t, o, "outputs/a/1.mp4", "the video")
	address := o.signGet(t, "outputs/a/1.mp4")
	for _, c := range []struct {
		header string
		status int
		body   string
	}{
		{"bytes=0-2", 206, "the"}, {"bytes=4-", 206, "video"}, {"bytes=-2", 206, "eo"}, {"bytes=99-", 416, ""},
	} {
		response, body := do(t, "GET", address, "", http.Header{"Range": {c.header}})
		want(t, c.header+" status", response.StatusCode, c.status)
		if c.status == 206 {
			want(t, c.header, body, c.body)
		}
	}
}

func testSignedGetExpires(t *testing.T, o ObjectsFixture) {
	put(t, o, "outputs/a/1.mp4", "the video")
	u, err := o.SignGet(t.Context(), "outputs/a/1.mp4", "x", o.Now().Add(2*time.Second))
	must(t, err)
	response, _ := do(t, "GET", o.resolve(t, u), "", nil)
	want(t, "status in time", response.StatusCode, 200)
	o.Sleep(3 * time.Second)
	response, body := do(t, "GET", o.resolve(t, u), "", nil)
	wantRefused(t, "too late", response, body)
}

func testSignedGetMissing(t *testing.T, o ObjectsFixture) {
	response, body := do(t, "GET", o.signGet(t, "outputs/never"), "", nil)
	want(t, "status", response.StatusCode, 404)
	wantRefused(t, "missing", response, body)
}

// tampered returns copies of a signed URL, each with one change.
func (o ObjectsFixture) tampered(t *testing.T, address string) []string {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	var all []string
	change := func(f func(u *url.URL, q url.Values)) {
		changed, query := *u, u.Query()
		f(&changed, query)
		changed.RawQuery = query.Encode()
		if o.Lax != nil && o.Lax(query) {
			t.Logf("not tried here: %s", &changed)
			return
		}
		all = append(all, changed.String())
	}
	change(func(u *url.URL, _ url.Values) { u.Path += "x" })
	change(func(_ *url.URL, q url.Values) { clear(q) })
	for name := range u.Query() {
		change(func(_ *url.URL, q url.Values) { q.Del(name) })
		change(func(_ *url.URL, q url.Values) { q.Set(name, "9"+q.Get(name)) })
	}
	return all
}

func testTamperedGet(t *testing.T, o ObjectsFixture) {
	for _, key := range []string{"outputs/a", "outputs/ax"} {
		put(t, o, key, "secret")
	}
	for _, address := range o.tampered(t, o.signGet(t, "outputs/a")) {
		response, body := do(t, "GET", address, "", nil)
		wantRefused(t, address, response, body)
	}
	response, body := do(t, "PUT", o.signGet(t, "outputs/a"), "other", nil)
	wantRefused(t, "put by a get URL", response, body)
	wantObject(t, o, "outputs/a", "secret")
}

// signPut returns a signed URL for 5 bytes and its headers.
func (o ObjectsFixture) signPut(t *testing.T, contentType string) (address string, header http.Header) {
	t.Helper()
	u, header, err := o.SignPut(t.Context(), "uploads/u", 5, contentType, o.Now().Add(time.Hour))
	must(t, err)
	return o.resolve(t, u), header
}

func testSignedPut(t *testing.T, o ObjectsFixture) {
	address, header := o.signPut(t, "audio/wav")
	for range 2 { // a client may try again
		response, body := do(t, "PUT", address, "fives", header)
		want(t, "status "+body, response.StatusCode, 200)
		wantObject(t, o, "uploads/u", "fives")
	}
	response, body := do(t, "GET", address, "", nil)
	wantRefused(t, "get by a put URL", response, body)
}

func testSignedPutAnyType(t *testing.T, o ObjectsFixture) {
	address, header := o.signPut(t, "")
	for _, contentType := range []string{"", "audio/wav"} {
		if contentType != "" {
			header.Set("Content-Type", contentType)
		}
		response, body := do(t, "PUT", address, "fives", header)
		want(t, "status "+body, response.StatusCode, 200)
	}
	wantObject(t, o, "uploads/u", "fives")
}

func testSignedPutSize(t *testing.T, o ObjectsFixture) {
	address, header := o.signPut(t, "audio/wav")
	for _, text := range []string{"", "four", "sixsix"} {
		response, body := do(t, "PUT", address, text, header)
		wantRefused(t, fmt.Sprintf("%d bytes", len(text)), response, body)
	}
	wantKeys(t, o, "")
}

func testSignedPutType(t *testing.T, o ObjectsFixture) {
	address, _ := o.signPut(t, "audio/wav")
	response, body := do(t, "PUT", address, "fives", http.Header{"Content-Type": {"video/mp4"}})
	wantRefused(t, "another type", response, body)
	response, body = do(t, "PUT", address, "fives", nil)
	wantRefused(t, "no type", response, body)
	wantKeys(t, o, "")
}

func testSignedPutExpires(t *testing.T, o ObjectsFixture) {
	u, header, err := o.SignPut(t.Context(), "uploads/u", 5, "audio/wav", o.Now().Add(2*time.Second))
	must(t, err)
	o.Sleep(3 * time.Second)
	response, body := do(t, "PUT", o.resolve(t, u), "fives", header)
	wantRefused(t, "too late", response, body)
	wantKeys(t, o, "")
}

// testSignedPutBreaks closes the connection in the middle of the body.
func testSignedPutBreaks(t *testing.T, o ObjectsFixture) {
	address, _ := o.signPut(t, "")
	u, err := url.Parse(address)
	must(t, err)
	if u.Scheme != "http" {
		t.Skip("works with plain http only")
	}
	conn, err := net.Dial("tcp", u.Host)
	must(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 5\r\n\r\nfou", u.RequestURI(), u.Host)
	must(t, conn.(*net.TCPConn).CloseWrite())
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if o.Lax == nil || !errors.Is(err, io.ErrUnexpectedEOF) { // an emulator may hang up too
		must(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		must(t, err)
		wantRefused(t, "half a body", response, string(body))
	}
	wantKeys(t, o, "")
	_, err = o.Size(t.Context(), "uploads/u")
	wantCode(t, err, failure.NotFound)
}

func testTamperedPut(t *testing.T, o ObjectsFixture) {
	address, header := o.signPut(t, "audio/wav")
	for _, changed := range o.tampered(t, address) {
		response, body := do(t, "PUT", changed, "fives", header)
		wantRefused(t, changed, response, body)
	}
	wantKeys(t, o, "")
}
