package dashboard

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/signin"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/lipsynctest"
)

// account is the account whose dashboard the tests see.
const account = "default"

// lossy is a queue that loses all messages: no test here needs a worker.
type lossy struct{}

func (lossy) Send(context.Context, lipsync.Request) error { return nil }

// fixture is the dashboard of one machine without a worker, and a browser with
// cookies but no scripts.
type fixture struct {
	*httptest.Server
	service  *service.Service
	public   *url.URL // nil unless a test sets it
	folder   *signin.Folder
	change   func(*Options) // nil unless a test sets it
	clock    *lipsynctest.Clock
	log      *bytes.Buffer
	database string // path of the database's file
	browser  *http.Client
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir, clock := t.TempDir(), lipsynctest.NewClock()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	objects, err := disk.Open(filepath.Join(dir, "objects"), clock.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	folder, err := signin.OpenFolder(filepath.Join(dir, "dashboard"), clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	f := &fixture{folder: folder, clock: clock, log: new(bytes.Buffer), database: filepath.Join(dir, "db")}
	f.service = lipsynctest.NewService(t, base.Config{GenerateRate: 60, ReadRate: 600, Engines: []string{"warp", "wav2lip"}}, base.Ports{
		Store:   store.Store,
		Objects: objects,
		Hints:   lossy{},
		Now:     clock.Now,
	})
	handler := f.handler(t)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, disk.Prefix) {
			objects.Handler().ServeHTTP(w, r)
		} else {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	f.browser = f.newBrowser(t)
	return f
}

// handler returns the handler of the dashboard.
func (f *fixture) handler(t testing.TB) http.Handler {
	t.Helper()
	secret, err := f.folder.Secret()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Log: slog.New(slog.NewTextHandler(f.log, nil)), SignIn: f.folder, Sessions: f.folder, People: f.folder, Secret: secret,
		PublicURL: f.public, Document: document(t),
	}
	if f.change != nil {
		f.change(&o)
	}
	handler, err := New(f.service, o)
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// address returns the address of a page.
func (f *fixture) address(t testing.TB, path string) *url.URL {
	t.Helper()
	u, err := url.Parse(f.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// newBrowser returns a browser that follows no redirects by itself.
func (f *fixture) newBrowser(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is the answer to a call.
type answer struct {
	status int
	header http.Header
	body   string
}

func (f *fixture) do(t testing.TB, method, path string, form url.Values) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := f.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body.String()}
}

func (f *fixture) get(t testing.TB, path string) answer {
	t.Helper()
	return f.do(t, http.MethodGet, path, nil)
}

// send sends a form with the session's token.
func (f *fixture) send(t testing.TB, path string, form url.Values) answer {
	t.Helper()
	if form == nil {
		form = url.Values{}
	}
	form.Set("csrf", f.csrf(t))
	return f.do(t, http.MethodPost, path, form)
}

var csrfInput = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func (f *fixture) csrf(t testing.TB) string {
	t.Helper()
	found := csrfInput.FindStringSubmatch(f.get(t, "/dashboard").body)
	if found == nil {
		t.Fatal("nobody is signed in")
	}
	return found[1]
}

func (f *fixture) newLink(t testing.TB) string {
	t.Helper()
	link, err := f.folder.NewLink(account)
	if err != nil {
		t.Fatal(err)
	}
	return link.String()
}

// use signs the browser in by a link, as the button of its page does.
func (f *fixture) use(t testing.TB, link string) answer {
	t.Helper()
	_, token, _ := strings.Cut(link, "token=")
	return f.do(t, http.MethodPost, "/dashboard/sign-in", url.Values{"token": {token}})
}

// signIn signs the browser in.
func (f *fixture) signIn(t testing.TB) {
	t.Helper()
	if got := f.use(t, f.newLink(t)); got.status != http.StatusSeeOther || got.header.Get("Location") != "/dashboard" {
		t.Fatalf("sign in: got %d to %q", got.status, got.header.Get("Location"))
	}
}

// mustLead checks that an answer is a redirect to the path.
func (a answer) mustLead(t testing.TB, path string) {
	t.Helper()
	if got := a.header.Get("Location"); a.status != http.StatusSeeOther || got != path {
		t.Errorf("got %d to %q, want it to lead to %s", a.status, got, path)
	}
}

// must checks that an answer has the status and contains the texts.
func (a answer) must(t testing.TB, status int, texts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("got %d, want %d", a.status, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%q is not in the page:\n%s", text, a.body)
		}
	}
}

// caller makes a key of an account.
func (f *fixture) caller(t testing.TB, account string) lipsync.Caller {
	t.Helper()
	_, k, err := f.service.CreateKey(t.Context(), account, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	return lipsync.Caller{Account: account, KeyID: k.ID, KeyName: k.Name}
}

// add makes a request of two URLs.
func (f *fixture) add(t testing.TB, c lipsync.Caller, reference string) string {
	t.Helper()
	p := requests.Params{
		Video: requests.Source{URL: "https://example.com/v.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}},
	}
	if reference != "" {
		p.ReferenceID = &reference
	}
	id, err := f.service.Generate(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// noFace is the failure of a video without a face.
var noFace = failure.Failure{Code: failure.NoFace}

// noCodec is a failure whose sentence has the text.
func noCodec(text string) failure.Failure {
	return failure.Failure{Code: failure.CodecNotInstalled, Details: failure.Details{Codec: text}}
}

// fail makes a request fail, as a worker does.
func (f *fixture) fail(t testing.TB, id string, why failure.Failure) {
	t.Helper()
	r, err := f.service.Claim(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	f.clock.Advance(2 * time.Second)
	if err := f.service.Fail(t.Context(), r, why); err != nil {
		t.Fatal(err)
	}
}
