package dashboard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/signin"
	"lipsync/internal/test/browsertest"
)

// provider is a SignIn on another site, which believes all names.
type provider struct {
	host     string // with its port
	err      error
	confirms int             // number of calls of Confirm
	gone     map[string]bool // accounts whose people may not sign in any more
}

func (p *provider) address(path string) *url.URL {
	return &url.URL{Scheme: "http", Host: p.host, Path: path}
}

func (p *provider) Identify(w http.ResponseWriter, r *http.Request) (signin.Person, bool, error) {
	name := r.FormValue("name")
	if p.err == nil && name == "" {
		w.Header().Set("Location", p.address("/login").String())
		w.WriteHeader(http.StatusSeeOther)
		return signin.Person{}, true, nil
	}
	return signin.Person{Account: "id of " + name, Name: name}, false, p.err
}

func (p *provider) Confirm(_ context.Context, who signin.Person) (signin.Person, error) {
	p.confirms++
	if p.gone[who.Account] {
		return signin.Person{}, &failure.Error{Code: failure.Unauthorized, Message: "Gone.", Err: errors.New("this person was disabled")}
	}
	return who, p.err
}

func (p *provider) SignOutURL() *url.URL { return p.address("/logout") }

// newStage returns a dashboard like that on AWS: under the path of a stage, with the storage and the
// sign-in on other hosts.
func newStage(t *testing.T) (*fixture, *provider) {
	t.Helper()
	f, p := newFixture(t), &provider{host: "provider.example.com"}
	f.change = func(o *Options) {
		o.Prefix, o.SignIn = "/api", p
		o.Storage = &url.URL{Scheme: "https", Host: "bucket.example.com", Path: "/x"}
	}
	f.Server = httptest.NewServer(f.handler(t))
	t.Cleanup(f.Close)
	return f, p
}

func TestProvider(t *testing.T) {
	f, p := newStage(t)
	f.get(t, "/api/dashboard").mustLead(t, "/api/dashboard/sign-in")
	f.get(t, "/api/dashboard/sign-in").mustLead(t, "http://provider.example.com/login")
	f.do(t, http.MethodHead, "/api/dashboard/sign-in?name=x", nil).must(t, http.StatusForbidden)

	p.err = &failure.Error{Code: failure.Unauthorized, Message: "Not you.", Err: errors.New("the cause")}
	f.get(t, "/api/dashboard/sign-in?name=x").must(t, http.StatusForbidden, "Not you.", `href="/api/dashboard/sign-in">Try again`)
	p.err = errors.New("no route to host")
	away := f.get(t, "/api/dashboard/sign-in?name=x")
	away.must(t, http.StatusServiceUnavailable, "Signing in doesn’t work just now", `href="/api/dashboard/sign-in">Try again`)
	if strings.Contains(away.body, "host") {
		t.Error("the page tells the cause")
	}
	p.err = nil
	f.get(t, "/api/dashboard/usage").mustLead(t, "/api/dashboard/sign-in")
	f.get(t, "/api/dashboard/sign-in").mustLead(t, "http://provider.example.com/login")
	f.get(t, "/api/dashboard/sign-in?name=x").mustLead(t, "/api/dashboard/usage")
	f.get(t, "/api/dashboard/settings/keys").must(t, http.StatusOK, "<strong>x</strong>")
	form := url.Values{"csrf": {csrfInput.FindStringSubmatch(f.get(t, "/api/dashboard/new").body)[1]}}
	f.do(t, http.MethodPost, "/api/dashboard/sign-out", form).mustLead(t, "http://provider.example.com/logout")
	f.get(t, "/api/dashboard").mustLead(t, "/api/dashboard/sign-in")
	f.get(t, "/api/dashboard/signed-out").must(t, http.StatusOK, "Your session has ended", `href="/api/dashboard/sign-in">Sign in`)
	f.Close()
	for _, cause := range []string{"the cause", "level=ERROR msg=page route=\"GET /api/dashboard/sign-in\" status=503"} {
		if !strings.Contains(f.log.String(), cause) {
			t.Errorf("%s is not in the log", cause)
		}
	}
}

// TestPrefix checks that no answer to a browser has a path without the prefix.
func TestPrefix(t *testing.T) {
	f, _ := newStage(t)
	in := f.get(t, "/api/dashboard/sign-in?name=x")
	if cookie := in.header.Get("Set-Cookie"); !strings.Contains(cookie, "; Path=/api/dashboard;") {
		t.Errorf("got cookie %s", cookie)
	}
	c := f.caller(t, "id of x")
	id := f.add(t, c, "r")
	paths := regexp.MustCompile(`\b(?:href|src|action|data-uploads)="([^"]*)"`)
	seen := 0
	for _, path := range append(everyPage, "/dashboard/sign-in?name=", "/dashboard/signed-out", "/dashboard/nowhere", "/dashboard/requests/"+id,
		"/dashboard?offset=25", "/dashboard?status=failed&place=3", "/dashboard/settings/keys/"+c.KeyID+"/revoke") {
		page := f.get(t, "/api"+path)
		for _, found := range paths.FindAllStringSubmatch(page.body, -1) {
			seen++
			if to := found[1]; !strings.HasPrefix(to, "/api/dashboard") && !strings.HasPrefix(to, "http") && !strings.ContainsAny(to[:1], "?#") {
				t.Errorf("%s: leads to %s", path, to)
			}
		}
		want := "img-src 'self' data: blob: https://bucket.example.com; connect-src 'self' https://bucket.example.com; media-src 'self' blob: http: https:; form-action 'self' http://provider.example.com;"
		if got := page.header.Get("Content-Security-Policy"); !strings.Contains(got, want) {
			t.Errorf("%s: got policy %s, want %s in it", path, got, want)
		}
	}
	if seen < 100 {
		t.Errorf("got %d paths in all pages", seen)
	}
	style := regexp.MustCompile(`href="([^"]+css)"`).FindStringSubmatch(f.get(t, "/api/dashboard/new").body)
	f.get(t, style[1]).must(t, http.StatusOK, "@media")
	form := url.Values{"csrf": {csrfInput.FindStringSubmatch(f.get(t, "/api/dashboard/new").body)[1]}}
	f.do(t, http.MethodPost, "/api/dashboard/requests/"+id+"/cancel", form).mustLead(t, "/api/dashboard/requests/"+id)
	f.do(t, http.MethodPost, "/api/dashboard/requests/"+id+"/delete", form).mustLead(t, "/api/dashboard/requests/"+id)
	f.do(t, http.MethodPost, "/api/dashboard/settings/keys/"+c.KeyID+"/revoke", form).mustLead(t, "/api/dashboard/settings/keys")
	form.Set("video", "https://example.com/v.mp4")
	form.Set("audio", "https://example.com/a.wav")
	if to := f.do(t, http.MethodPost, "/api/dashboard/new", form).header.Get("Location"); !strings.HasPrefix(to, "/api/dashboard/requests/") {
		t.Errorf("a new request leads to %s", to)
	}
	for _, path := range []string{"/dashboard", "/dashboard/new", "/api"} {
		f.get(t, path).must(t, http.StatusNotFound)
	}
	f.get(t, "/").mustLead(t, "/api/dashboard")
	f.get(t, "/api/dashboard/").mustLead(t, "/api/dashboard")
	f.get(t, "/api/dashboard/settings").mustLead(t, "/api/dashboard/settings/keys")
}

// TestProviderInBrowser signs out by a form that leads to another site and back. An open page notices
// that its session has ended, though it can't read answers of the other site.
func TestProviderInBrowser(t *testing.T) {
	f, p := newStage(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/logout":
			http.Redirect(w, r, f.URL+"/api/dashboard/signed-out", http.StatusFound)
		case "/login":
			_, _ = io.WriteString(w, "<!doctype html><h1>Who are you?</h1>")
		}
	}))
	t.Cleanup(elsewhere.Close)
	p.host = strings.TrimPrefix(elsewhere.URL, "http://")
	f.Config.Handler = f.handler(t) // the new handler's policy names the provider's host
	f.add(t, f.caller(t, "id of x"), "")
	b := browsertest.New(t)
	signIn := func() {
		b.Open(f.URL + "/api/dashboard/sign-in?name=x")
		b.Wait(`document.querySelector("[data-live]")`)
	}
	signIn()
	b.Do(chromedp.Click(".me summary"), chromedp.Click(".me button"))
	b.WaitText("h1", "Signed out")
	signIn()
	f.clock.Advance(sessionLife)
	b.WaitText("h1", "Who are you?")
}
