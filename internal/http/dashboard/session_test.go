package dashboard

import (
	"lipsync/internal/http/signin"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestSignIn(t *testing.T) {
	f := newFixture(t)
	f.get(t, "/").mustLead(t, "/dashboard")
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	f.get(t, "/dashboard/sign-in").must(t, http.StatusForbidden, "lipsync dashboard", "--data")
	link := f.newLink(t)
	for range 2 { // programs that show a preview of the link, or load it early, open it too
		f.do(t, http.MethodHead, link, nil).must(t, http.StatusForbidden)
		f.get(t, link).must(t, http.StatusOK, "This link signs you in to the account <strong>"+account+"</strong>")
		f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	}
	f.use(t, link).mustLead(t, "/dashboard")
	f.get(t, "/dashboard").must(t, http.StatusOK, "No requests yet")
	f.get(t, link).mustLead(t, "/dashboard") // a person who is signed in needs no link

	f.browser = f.newBrowser(t)
	f.get(t, link).must(t, http.StatusForbidden, "used already")
	f.use(t, link).must(t, http.StatusForbidden, "used already")
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	f.Close() // a call is logged after it was answered
	if said := f.log.String(); strings.Contains(said, "token=") || strings.Contains(said, strings.TrimPrefix(link, "/dashboard/sign-in?token=")) {
		t.Error("a token is in the log")
	}
}

// TestOldLink uses a link that is too old, and then a newer one.
func TestOldLink(t *testing.T) {
	f := newFixture(t)
	old := f.newLink(t)
	f.clock.Advance(signin.LinkLife)
	f.get(t, old).must(t, http.StatusForbidden, "is too old")
	f.signIn(t)
}

// TestWanted asks for a page, signs in, and gets to that page. That works once, and only with a cookie
// that this service made.
func TestWanted(t *testing.T) {
	f := newFixture(t)
	const wanted = "/dashboard?status=failed&reference_id=a%20b"
	f.get(t, wanted).mustLead(t, "/dashboard/sign-in")
	f.use(t, f.newLink(t)).mustLead(t, wanted)
	f.use(t, f.newLink(t)).mustLead(t, "/dashboard")

	f.browser = f.newBrowser(t)
	f.get(t, wanted)
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in") // the last page that was asked for counts
	f.use(t, f.newLink(t)).mustLead(t, "/dashboard")

	signIn := f.address(t, "/dashboard/sign-in")
	for _, planted := range []string{"", "/dashboard/usage", "https://example.com"} {
		f.browser = f.newBrowser(t)
		f.get(t, wanted)
		kept := f.browser.Jar.Cookies(signIn)[0]
		f.browser.Jar.SetCookies(signIn, []*http.Cookie{{Name: kept.Name, Value: planted, Path: signIn.Path}})
		f.use(t, f.newLink(t)).mustLead(t, "/dashboard")
	}
}

// TestNeighbors signs in to two services on one machine with one browser.
func TestNeighbors(t *testing.T) {
	here, there := newFixture(t), newFixture(t)
	there.browser = here.browser
	here.signIn(t)
	there.signIn(t)
	here.get(t, "/dashboard").must(t, http.StatusOK)
}

// TestOneWinner uses one link many times at once: one use signs in.
func TestOneWinner(t *testing.T) {
	f := newFixture(t)
	link := f.newLink(t)
	won := make(chan bool)
	for range 8 {
		go func() {
			r, _ := http.NewRequest(http.MethodPost, link, nil)
			_, _, err := f.folder.Identify(nil, r)
			won <- err == nil
		}()
	}
	winners := 0
	for range 8 {
		if <-won {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("got %d who signed in, want 1", winners)
	}
}

func TestSessionEnds(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.clock.Advance(sessionLife - time.Second)
	f.get(t, "/dashboard").must(t, http.StatusOK)
	f.clock.Advance(time.Second)
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	f.do(t, http.MethodPost, "/dashboard/settings/keys", url.Values{}).must(t, http.StatusForbidden, "session has ended")
}

// TestSignOut signs in twice and signs out once. The other session goes on. After signing out everywhere it has ended too, a copy of the
// cookie doesn't work, and a new session works.
func TestSignOut(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	other := f.browser
	f.browser = f.newBrowser(t)
	f.signIn(t)
	address := f.address(t, "/dashboard")
	copied := f.browser.Jar.Cookies(address)
	f.send(t, "/dashboard/sign-out", nil).mustLead(t, "/dashboard/sign-in")
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	f.browser, other = other, f.browser
	f.get(t, "/dashboard").must(t, http.StatusOK)
	f.send(t, "/dashboard/sign-out", url.Values{"everywhere": {"1"}}).mustLead(t, "/dashboard/sign-in")
	f.browser, other = other, f.browser
	copied[0].Path = Root
	f.browser.Jar.SetCookies(address, copied)
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	f.browser = other
	f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	f.signIn(t)
	f.get(t, "/dashboard").must(t, http.StatusOK)
}

// TestForgedCookie sends cookies that this service did not make.
func TestForgedCookie(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	address, _ := url.Parse(f.URL + "/dashboard")
	good := f.browser.Jar.Cookies(address)[0]
	stranger, err := signin.NewSealer([32]byte{1}, sessionCookie)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := stranger.Seal(session{Person: signin.Person{Account: account}, Ends: f.clock.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	flipped := strings.Map(func(r rune) rune {
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, good.Value)
	for _, value := range []string{"", "x", forged, good.Value[1:], flipped} {
		f.browser.Jar.SetCookies(address, []*http.Cookie{{Name: good.Name, Value: value, Path: Root}})
		f.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	}
}

// TestCookie checks that browsers may send a session's cookie without encryption only on this machine,
// where its name has the port.
func TestCookie(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:8080": "lipsync_session_8080", "http://localhost": "lipsync_session", "http://[::1]:1": "lipsync_session_1",
		"http://192.0.2.1:80": "", "http://example.com": "", "http://localhost.example.com": "",
		"https://localhost": "", "https://example.com": "",
	} {
		secure := want == ""
		if secure {
			want = "__Secure-lipsync_session"
		}
		f := newFixture(t)
		var err error
		if f.public, err = url.Parse(address); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		f.handler(t).ServeHTTP(w, httptest.NewRequest(http.MethodPost, f.newLink(t), nil))
		c := w.Result().Cookies()[0]
		if c.Name != want || c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != Root || c.MaxAge != 12*60*60 {
			t.Errorf("%s: got %+v", address, c)
		}
	}
}

// TestNoSession checks that the sign-in page explains why browsers keep no session at some addresses.
func TestNoSession(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequest(http.MethodGet, "http://192.0.2.1/dashboard/sign-in", nil)
	w := httptest.NewRecorder()
	f.handler(t).ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "only over https") {
		t.Errorf("got %s", w.Body)
	}
}

// TestEveryForm sends each form without the session's token, with the token of another session, and
// from another site.
func TestEveryForm(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	forms := 0
	for _, route := range new(pages).private() {
		path, form := strings.CutPrefix(strings.ReplaceAll(route.pattern, "{id}", "x"), "POST ")
		if !form {
			continue
		}
		forms++
		f.do(t, http.MethodPost, path, url.Values{"name": {"x"}}).must(t, http.StatusForbidden, "out of date")
		f.do(t, http.MethodPost, path, url.Values{"csrf": {"x"}}).must(t, http.StatusForbidden, "out of date")
		r, _ := http.NewRequest(http.MethodPost, f.URL+path, strings.NewReader(url.Values{"csrf": {f.csrf(t)}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		response, err := f.browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s from another site: got %s", path, response.Status)
		}
	}
	f.get(t, "/dashboard").must(t, http.StatusOK)
	if keys, _ := f.service.Store.Keys.List(t.Context(), ""); len(keys) != 0 || forms < 6 {
		t.Errorf("got %d keys after %d forms, want none", len(keys), forms)
	}
}
