package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestSignIn(t *testing.T) {
	h := newHome(t)
	h.get(t, "/").mustLead(t, "/dashboard")
	h.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	h.get(t, "/dashboard/sign-in").must(t, http.StatusForbidden, "lipsync dashboard")
	link := h.newLink(t)
	h.get(t, link).mustLead(t, "/dashboard")
	h.get(t, "/dashboard").must(t, http.StatusOK, "No requests yet")

	h.browser = h.newBrowser(t)
	h.get(t, link).must(t, http.StatusForbidden, "used already")
	h.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	if strings.Contains(h.log.String(), "token=") {
		t.Error("a token is in the log")
	}
}

// TestOldLink keeps a link too long, beside a newer one.
func TestOldLink(t *testing.T) {
	h := newHome(t)
	old := h.newLink(t)
	h.clock.Advance(LinkLife)
	h.get(t, old).must(t, http.StatusForbidden, "older than 10 minutes")
	h.signIn(t)
}

// TestOneWinner has many use one link at once.
func TestOneWinner(t *testing.T) {
	h := newHome(t)
	link := h.newLink(t)
	won := make(chan bool)
	for range 8 {
		go func() {
			r, _ := http.NewRequest(http.MethodGet, link, nil)
			_, _, err := h.folder.Identify(nil, r)
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
	h := newHome(t)
	h.signIn(t)
	h.clock.Advance(sessionLife - time.Second)
	h.get(t, "/dashboard").must(t, http.StatusOK)
	h.clock.Advance(time.Second)
	h.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	h.do(t, http.MethodPost, "/dashboard/settings/keys", url.Values{}).must(t, http.StatusForbidden, "session has ended")
}

func TestSignOut(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	h.send(t, "/dashboard/sign-out", nil).mustLead(t, "/dashboard/sign-in")
	h.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
}

// TestSignOutEverywhere is signed in twice; both end, and a new one is good.
func TestSignOutEverywhere(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	other := h.browser
	h.browser = h.newBrowser(t)
	h.signIn(t)
	h.send(t, "/dashboard/sign-out-everywhere", nil).mustLead(t, "/dashboard/sign-in")
	h.browser = other
	h.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	h.signIn(t)
	h.get(t, "/dashboard").must(t, http.StatusOK)
}

// TestForgedCookie presents cookies that this home did not make.
func TestForgedCookie(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	address, _ := url.Parse(h.URL + "/dashboard")
	good := h.browser.Jar.Cookies(address)[0].Value
	stranger, err := newSealer([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	forged, err := stranger.seal(session{Person: Person{Account: account}, Ends: h.clock.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	flipped := strings.Map(func(r rune) rune {
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, good)
	for _, value := range []string{"", "x", forged, good[1:], flipped} {
		h.browser.Jar.SetCookies(address, []*http.Cookie{{Name: cookieName, Value: value, Path: Root}})
		h.get(t, "/dashboard").mustLead(t, "/dashboard/sign-in")
	}
}

func TestCookie(t *testing.T) {
	for host, want := range map[string]bool{"http://127.0.0.1:8080": false, "http://localhost": false, "http://[::1]:1": false,
		"http://192.0.2.1": true, "http://example.com": true, "https://localhost": true} {
		base, err := url.Parse(host)
		if err != nil {
			t.Fatal(err)
		}
		h := newHome(t)
		link := h.newLink(t)
		r, _ := http.NewRequest(http.MethodGet, h.URL+link, nil)
		r.Host = base.Host
		if base.Scheme == "https" {
			continue // the next test's
		}
		response, err := h.browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		c := response.Cookies()[0]
		if c.Secure != want || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != Root || c.MaxAge != 12*60*60 {
			t.Errorf("%s: got %+v", host, c)
		}
	}
}

// TestEveryForm sends each change without the session's token, with another's, and
// from another site.
func TestEveryForm(t *testing.T) {
	h := newHome(t)
	h.signIn(t)
	for _, path := range changes {
		h.do(t, http.MethodPost, path, url.Values{"name": {"x"}}).must(t, http.StatusForbidden, "out of date")
		h.do(t, http.MethodPost, path, url.Values{"csrf": {"x"}}).must(t, http.StatusForbidden, "out of date")
		r, _ := http.NewRequest(http.MethodPost, h.URL+path, strings.NewReader(url.Values{"csrf": {h.csrf(t)}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		response, err := h.browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s from another site: got %s", path, response.Status)
		}
	}
	h.get(t, "/dashboard").must(t, http.StatusOK)
	if keys, _ := h.service.Keys(t.Context(), ""); len(keys) != 0 {
		t.Errorf("got %d keys, want none", len(keys))
	}
}

// changes are the paths of all forms.
var changes = []string{
	"/dashboard/sign-out", "/dashboard/sign-out-everywhere", "/dashboard/new", "/dashboard/uploads",
	"/dashboard/requests/x/cancel", "/dashboard/settings/keys", "/dashboard/settings/keys/x/revoke",
}
