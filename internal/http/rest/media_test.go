package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// stored counts the objects of the service.
func (f *fixture) stored(t testing.TB) (n int) {
	t.Helper()
	err := f.objects.List(t.Context(), "", func(string, time.Time) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// clear deletes all objects.
func (f *fixture) clear(t testing.TB) {
	t.Helper()
	err := f.objects.List(t.Context(), "", func(key string, _ time.Time) error { return f.objects.Delete(t.Context(), key) })
	if err != nil {
		t.Fatal(err)
	}
}

const boundary = "BOUNDARY"

// file returns the text of a form's part with a file.
func file(name, content string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"f\"\r\n\r\n" + content + "\r\n"
}

func (f *fixture) postForm(token string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/lipsync/generate-with-media", body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return f.call(r, token)
}

const last = "--" + boundary + "--\r\n"

// TestRefusedFormLeavesNothing checks that the files of a refused form are deleted.
func TestRefusedFormLeavesNothing(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	video, audio := strings.Repeat("v", 2<<20), strings.Repeat("a", 1<<20)
	brokenOff := io.MultiReader(strings.NewReader(file("video", video)), brokenReader{})
	for _, test := range []struct {
		name    string
		body    io.Reader
		status  int
		message string
	}{
		{"no audio", strings.NewReader(file("video", video) + last), 400, "audio file is required"},
		{"two videos", strings.NewReader(file("video", "v") + file("video", "v") + last), 400, "video was sent more than once"},
		{"broken off between files", brokenOff, 400, "invalid request body"},
		{"broken off in a file", io.MultiReader(strings.NewReader(file("video", video)[:1<<20]), brokenReader{}), 400, "invalid request body"},
		{"video too large", strings.NewReader(file("audio", audio) + file("video", video+"v") + last), 413, "video is larger than 2 MiB"},
		{"audio too large", strings.NewReader(file("video", video) + file("audio", audio+"a") + last), 413, "audio is larger than 1 MiB"},
		{"announced too large", strings.NewReader(strings.Repeat("x", 6<<20)), 413, "request body is larger than 5 MiB"},
		{"found too large", io.MultiReader(strings.NewReader(file("video", video)), strings.NewReader(file("audio", audio)), &preamble{}), 413,
			"request body is larger than 5 MiB"},
		{"bad reference", strings.NewReader(file("video", video) + file("audio", audio) + file("reference_id", "") + last), 400,
			"reference_id must be 1 to 255 characters"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := f.postForm(token, test.body)
			if got := errorOf(t, w); w.Code != test.status || got != test.message {
				t.Errorf("got %d %q, want %d %q", w.Code, got, test.status, test.message)
			}
			if n := f.stored(t); n != 0 {
				t.Errorf("%d objects are left", n)
			}
		})
	}
}

// brokenReader reads like a connection that the client closed.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// preamble reads an endless header of a part.
type preamble struct{ begun bool }

func (p *preamble) Read(b []byte) (int, error) {
	if !p.begun {
		p.begun = true
		return copy(b, "--"+boundary+"\r\nX: "), nil
	}
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestGoneClient checks that the stored files are deleted even if the client has gone and the
// call's context has ended.
func TestGoneClient(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	hangUp := readerFunc(func([]byte) (int, error) { cancel(); return 0, errors.New("connection reset") })
	body := io.MultiReader(strings.NewReader(file("video", "v")+file("audio", "a")), hangUp)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/lipsync/generate-with-media", body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	f.call(r, f.key(t))
	if n := f.stored(t); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestLargestForm checks that files with exactly the largest sizes are accepted.
func TestLargestForm(t *testing.T) {
	f := newFixture(t)
	body := file("video", strings.Repeat("v", 2<<20)) + file("audio", strings.Repeat("a", 1<<20)) + last
	if w := f.postForm(f.key(t), strings.NewReader(body)); w.Code != http.StatusOK {
		t.Errorf("got %d %s, want 200", w.Code, w.Body)
	}
	if n := f.stored(t); n != 2 {
		t.Errorf("got %d objects, want 2", n)
	}
}

// TestMaxForm checks the option MaxForm, for a gateway that accepts smaller forms than the API.
func TestMaxForm(t *testing.T) {
	f := newFixture(t)
	f.api = New(f.service, Options{Log: slog.New(slog.DiscardHandler), MaxForm: 1000})
	token, form := f.key(t), file("audio", "a")+last
	for size, want := range map[int]int{1000: 200, 1001: 413} {
		video := strings.Repeat("v", size-len(file("video", "")+form))
		w := f.postForm(token, strings.NewReader(file("video", video)+form))
		if w.Code != want {
			t.Errorf("%d bytes: got %d %s, want %d", size, w.Code, w.Body, want)
		}
		if got := errorOf(t, w); want == 413 && got != "request body is larger than 1000 bytes; send larger files by POST /v1/uploads" {
			t.Errorf("got %q", got)
		}
	}
}

// TestRepeatedFormLeavesOne checks that a repeated form is stored once.
func TestRepeatedFormLeavesOne(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	for range 3 {
		w := f.postForm(token, strings.NewReader(file("video", "v")+file("audio", "a")+last), "Idempotency-Key", "k")
		if w.Code != http.StatusOK {
			t.Errorf("got %d %s, want 200", w.Code, w.Body)
		}
	}
	if n := f.stored(t); n != 2 {
		t.Errorf("got %d objects, want the 2 of the first form", n)
	}
}

// FuzzMultipart checks that a form is accepted or gets 400 or 413, and that the files of a refused
// form are deleted.
func FuzzMultipart(f *testing.F) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	w.SetBoundary(boundary)
	w.WriteField("reference_id", "r")
	w.WriteField("disable_active_speaker_detection", "true")
	w.WriteField("options", `{"sync_mode":"cut_off","no_face":null}`)
	for _, name := range []string{"video", "audio"} {
		part, _ := w.CreateFormFile(name, "f")
		part.Write([]byte(name))
	}
	w.Close()
	f.Add(form.Bytes())
	for _, seed := range []string{
		file("video", "v") + file("audio", "a") + last, file("audio", "a") + last, last, "", "--" + boundary, file("video", "") + last,
		"--" + boundary + "\r\nContent-Disposition: form-data; name=video; filename*=UTF-8''%e2%82%ac\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=3D\r\n" + last,
		"--" + boundary + "\r\n\r\nx\r\n" + last, file("video", "v") + file("video", "v"), "--" + boundary + "\nContent-Disposition: form-data\n\nx\n" + last,
	} {
		f.Add([]byte(seed))
	}
	fx, token := newFuzzFixture(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		w := fx.postForm(token, bytes.NewReader(body))
		fx.log.Reset()
		if w.Code == http.StatusOK {
			if n := fx.stored(t); n != 2 {
				t.Errorf("%q: got %d objects, want 2", body, n)
			}
			fx.clear(t)
			if !bytes.Contains(body, []byte("--"+boundary+"--")) {
				t.Errorf("%q was taken, but has no end", body)
			}
		} else {
			wantRefusal(t, body, w)
		}
		if n := fx.stored(t); n != 0 {
			t.Errorf("%q: %d objects are left", body, n)
		}
	})
}

// TestFormsArrive checks forms of an account whose files together exceed its storage limit. The form
// that exceeds the limit must be refused, but forms of other accounts must not. Answered forms must
// no longer count.
func TestFormsArrive(t *testing.T) {
	f := newFixture(t)
	f.service.Limits.Stored = 12_000 // a record counts some 5000
	server := httptest.NewServer(New(f.service, Options{Log: slog.New(slog.DiscardHandler)}))
	defer server.Close()
	token, other := f.key(t), f.key(t) // of two accounts
	send := func(token string, body io.Reader) (status int) {
		r, err := http.NewRequest(http.MethodPost, server.URL+"/api/v1/lipsync/generate-with-media", body)
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header.Set("x-api-key", token)
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	half := func() string {
		return file("video", strings.Repeat("v", 4000)) + file("audio", strings.Repeat("a", 2000))
	}
	slow, more := io.Pipe()
	first := make(chan int)
	go func() { first <- send(token, slow) }()
	if _, err := io.WriteString(more, half()); err != nil {
		t.Fatal(err)
	}
	for f.stored(t) == 0 { // the video
		time.Sleep(time.Millisecond)
	}
	for _, c := range []struct {
		what, token string
		want        int
	}{
		{"over the limit", token, http.StatusInsufficientStorage},
		{"another account's", other, http.StatusOK},
	} {
		body := file("video", strings.Repeat("v", 4000)) + file("audio", strings.Repeat("a", 6000)) + last
		if got := send(c.token, strings.NewReader(body)); got != c.want {
			t.Errorf("%s: got %d, want %d", c.what, got, c.want)
		}
	}
	if _, err := io.WriteString(more, last); err != nil {
		t.Fatal(err)
	}
	more.Close()
	if got := <-first; got != http.StatusOK {
		t.Errorf("the first one: got %d, want 200", got)
	}
	if got := send(token, strings.NewReader(file("video", strings.Repeat("v", 5000))+file("audio", "a")+last)); got != http.StatusOK {
		t.Errorf("after all: got %d, want 200", got)
	}
}
