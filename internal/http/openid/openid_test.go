package openid_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/openid"
	"lipsync/internal/http/signin"
)

const returnURL = "https://signin.example.com/api/dashboard/sign-in"

// fixture is a sign-in with its provider.
type fixture struct {
	*provider
	*openid.SignIn
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	p := newProvider(t)
	return &fixture{p, open(t, p, p.URL)}
}

func open(t *testing.T, p *provider, issuer string) *openid.SignIn {
	t.Helper()
	back, err := url.Parse(returnURL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openid.New(openid.Options{
		Issuer: issuer, Discovery: p.URL, ClientID: clientID, ReturnURL: back, Secret: [32]byte{1}, Now: p.clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visit opens the sign-in page with cookies.
func visit(s *openid.SignIn, address string, cookies []*http.Cookie) (who signin.Person, answer *http.Response, err error) {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	who, _, err = s.Identify(w, r)
	return who, w.Result(), err
}

// start follows the sign-in page to the provider. It returns the address that the provider sends
// the person back to, and the cookies that were set.
func (f *fixture) start(t *testing.T) (back string, cookies []*http.Cookie) {
	t.Helper()
	_, answer, err := visit(f.SignIn, returnURL, nil)
	if err != nil || answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d, %v", answer.StatusCode, err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(answer.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.Header.Get("Location"), answer.Cookies()
}

func TestSignIn(t *testing.T) {
	f := newFixture(t)
	if f.finds.Load() != 0 {
		t.Error("the provider was called before the first sign-in")
	}
	for range 2 {
		back, cookies := f.start(t)
		c := cookies[0]
		if len(cookies) != 1 || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/api/dashboard/sign-in" || c.MaxAge != 600 {
			t.Errorf("got cookies %v", cookies)
		}
		who, answer, err := visit(f.SignIn, back, cookies)
		if want := (signin.Person{Account: "user-1", Name: "a@example.com", Proof: refreshToken}); err != nil || who != want {
			t.Fatalf("got %+v, %v, want %+v", who, err, want)
		}
		if dropped := answer.Cookies(); len(dropped) != 1 || dropped[0].MaxAge >= 0 || dropped[0].Path != c.Path {
			t.Errorf("got cookies %v, want that of the sign-in dropped", dropped)
		}
	}
	if got := f.finds.Load(); got != 1 {
		t.Errorf("the document was read %d times, want once", got)
	}
}

// TestNoEmail has a provider that does not give the email address.
func TestNoEmail(t *testing.T) {
	f := newFixture(t)
	f.change = map[string]any{"email": nil}
	back, cookies := f.start(t)
	who, _, err := visit(f.SignIn, back, cookies)
	if want := (signin.Person{Account: "user-1", Name: "user-1", Proof: refreshToken}); err != nil || who != want {
		t.Errorf("got %+v, %v, want %+v", who, err, want)
	}
}

// TestBadTokens has a provider whose tokens don't prove to this service who the person is.
func TestBadTokens(t *testing.T) {
	f := newFixture(t)
	other := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: newKey(t), KeyID: "1"}}
	shared := jose.SigningKey{Algorithm: jose.HS256, Key: f.key.N.Bytes()} // uses the public key as if it were a secret
	for name, spoil := range map[string]func(){
		"of another client":    func() { f.change = map[string]any{"aud": "another"} },
		"of another provider":  func() { f.change = map[string]any{"iss": "https://example.com"} },
		"of another sign-in":   func() { f.change = map[string]any{"nonce": "another"} },
		"without a nonce":      func() { f.change = map[string]any{"nonce": nil} },
		"expired":              func() { f.change = map[string]any{"exp": f.clock.Now().Unix() - 1} },
		"without an expiry":    func() { f.change = map[string]any{"exp": nil} },
		"not valid yet":        func() { f.change = map[string]any{"nbf": f.clock.Now().Unix() + 3600} },
		"of nobody":            func() { f.change = map[string]any{"sub": nil} },
		"of a number":          func() { f.change = map[string]any{"email": 1} },
		"of another key":       func() { f.signer = &other },
		"of the public key":    func() { f.signer = &shared },
		"that is not a token":  func() { f.answer = map[string]any{"access_token": "a", "id_token": "x"} },
		"that is not a string": func() { f.answer = map[string]any{"access_token": "a", "id_token": 1} },
		"that is missing":      func() { f.answer = map[string]any{"access_token": "a"} },
		"without a signature":  func() { f.answer = map[string]any{"access_token": "a", "id_token": "eyJhbGciOiJub25lIn0.e30."} },
	} {
		f.change, f.signer, f.answer = nil, nil, nil
		spoil()
		back, cookies := f.start(t)
		wantRefused(t, name, f.SignIn, back, cookies, "The sign-in could not be verified.")
	}
}

// wantRefused comes back from the provider, and wants a refusal with the message.
func wantRefused(t *testing.T, name string, s *openid.SignIn, back string, cookies []*http.Cookie, want string) {
	t.Helper()
	who, _, err := visit(s, back, cookies)
	if failure.CodeOf(err) != failure.Unauthorized || failure.MessageOf(err) != want || who != (signin.Person{}) {
		t.Errorf("%s: got %+v, %v, want: %s", name, who, err, want)
	}
}

const (
	elsewhere = "This sign-in ended already, or began in another tab or browser."
	used      = "This sign-in was used already, or is too old."
)

// TestConfirm asks the provider again, before and after it disabled the person.
func TestConfirm(t *testing.T) {
	f := newFixture(t)
	back, cookies := f.start(t)
	who, _, err := visit(f.SignIn, back, cookies)
	if err != nil {
		t.Fatal(err)
	}
	f.change = map[string]any{"email": "b@example.com"}
	want := signin.Person{Account: "user-1", Name: "b@example.com", Proof: refreshToken}
	if got, err := f.Confirm(t.Context(), who); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	f.answer = map[string]any{"access_token": "b", "token_type": "Bearer"}
	want.Name = "a@example.com"
	if got, err := f.Confirm(t.Context(), who); err != nil || got != want {
		t.Errorf("without an ID token: got %+v, %v, want %+v", got, err, want)
	}
	f.answer, f.change = nil, map[string]any{"sub": "user-2"}
	if got, err := f.Confirm(t.Context(), who); failure.CodeOf(err) != failure.Unauthorized {
		t.Errorf("of another person: got %+v, %v", got, err)
	}
	f.change = nil
	f.down.Store(true)
	if got, err := f.Confirm(t.Context(), who); failure.CodeOf(err) != failure.Internal {
		t.Errorf("down: got %+v, %v", got, err)
	}
	f.down.Store(false)
	f.gone = true
	if got, err := f.Confirm(t.Context(), who); failure.CodeOf(err) != failure.Unauthorized {
		t.Errorf("disabled: got %+v, %v", got, err)
	}
}

// TestRotation has a provider that gives a new refresh token for each, and takes each once. Pages that a browser
// asks for at once, and one that comes later with the older cookie, must all get the new token.
func TestRotation(t *testing.T) {
	f := newFixture(t)
	back, cookies := f.start(t)
	who, _, err := visit(f.SignIn, back, cookies)
	if err != nil {
		t.Fatal(err)
	}
	f.rotates.Store(true)
	var pages sync.WaitGroup
	confirm := func(who signin.Person, want string) {
		t.Helper()
		if got, err := f.Confirm(t.Context(), who); err != nil || got.Proof != want || got.Account != "user-1" {
			t.Errorf("got %+v, %v, want the token %s", got, err, want)
		}
	}
	for range 8 {
		pages.Go(func() { confirm(who, refreshToken+"+") })
	}
	pages.Wait()
	confirm(who, refreshToken+"+")
	who.Proof = refreshToken + "+"
	confirm(who, refreshToken+"++")
	if n := f.refreshed.Load(); n != 2 {
		t.Errorf("the provider was asked %d times, want 2", n)
	}
}

// TestNoRefreshToken has a provider that could never confirm the person.
func TestNoRefreshToken(t *testing.T) {
	f := newFixture(t)
	back, cookies := f.start(t)
	nonce := f.codes[valueOf(t, back, "code")].Get("nonce")
	f.answer = map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": f.sign(nonce)}
	if who, _, err := visit(f.SignIn, back, cookies); failure.CodeOf(err) != failure.Internal || !strings.Contains(err.Error(), "no refresh token") {
		t.Errorf("got %+v, %v", who, err)
	}
}

// TestReturns comes back from the provider in ways that must be refused.
func TestReturns(t *testing.T) {
	f := newFixture(t)
	back, cookies := f.start(t)
	other, _ := f.start(t)
	state := url.Values{"state": {valueOf(t, back, "state")}}.Encode()
	stranger, err := signin.NewSealer([32]byte{2}, cookies[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	session, err := signin.NewSealer([32]byte{1}, "lipsync_session")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, back string
		cookies    []*http.Cookie
		want       string
	}{
		{"another browser", back, nil, elsewhere},
		{"an unknown state", returnURL + "?code=x&state=y", cookies, elsewhere},
		{"no state", returnURL + "?code=x", cookies, elsewhere},
		{"an error without a state", returnURL + "?error=access_denied", cookies, elsewhere},
		{"another tab", other, cookies, elsewhere},
		{"no state and an empty cookie", returnURL + "?code=x&state=", sealed(t, cookies[0].Name, stranger), elsewhere},
		{"a forged cookie", back, sealed(t, cookies[0].Name, stranger), elsewhere},
		{"a session's cookie", returnURL + "?code=x&state=", sealed(t, cookies[0].Name, session), elsewhere},
		{"denied", returnURL + "?error=access_denied&error_description=%3Cb%3E&" + state, cookies, "The sign-in was not completed."},
		{"an unknown code", returnURL + "?code=x&" + state, cookies, used},
		{"an empty code", returnURL + "?code=&" + state, cookies, used},
		{"another's code", returnURL + "?code=" + valueOf(t, other, "code") + "&" + state, cookies, used},
	} {
		wantRefused(t, c.name, f.SignIn, c.back, c.cookies, c.want)
	}
	if _, _, err := visit(f.SignIn, back, cookies); err != nil {
		t.Errorf("the valid one: %v", err)
	}
	wantRefused(t, "once more", f.SignIn, back, cookies, used)
}

func valueOf(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

// sealed returns a cookie of an attempt without a state.
func sealed(t *testing.T, name string, s signin.Sealer) []*http.Cookie {
	t.Helper()
	value, err := s.Seal(map[string]any{"Ends": time.Now().AddDate(10, 0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return []*http.Cookie{{Name: name, Value: value}}
}

// TestTwoTabs begins in two tabs. The first one to come back began first, so its attempt is
// forgotten; it must not spoil the second.
func TestTwoTabs(t *testing.T) {
	f := newFixture(t)
	first, _ := f.start(t)
	second, cookies := f.start(t)
	_, answer, err := visit(f.SignIn, first, cookies)
	if failure.CodeOf(err) != failure.Unauthorized || len(answer.Cookies()) != 0 {
		t.Errorf("first: got %v with cookies %v", err, answer.Cookies())
	}
	if _, _, err := visit(f.SignIn, second, cookies); err != nil {
		t.Errorf("second: %v", err)
	}
}

func TestSlow(t *testing.T) {
	f := newFixture(t)
	back, cookies := f.start(t)
	f.clock.Advance(10 * time.Minute)
	wantRefused(t, "slow", f.SignIn, back, cookies, "This sign-in took longer than 10 minutes.")
}

// TestDown has a provider that is down when it is needed, and comes back.
func TestDown(t *testing.T) {
	f := newFixture(t)
	wantFault := func(name, address string, cookies []*http.Cookie) {
		t.Helper()
		if _, answer, err := visit(f.SignIn, address, cookies); failure.CodeOf(err) != failure.Internal || answer.Header.Get("Location") != "" {
			t.Errorf("%s: got %v, want an internal error", name, err)
		}
	}
	f.down.Store(true)
	wantFault("no document", returnURL, nil)
	f.down.Store(false)
	back, cookies := f.start(t)
	f.down.Store(true)
	wantFault("no token", back, cookies)
	f.down.Store(false)
	for error, status := range map[string]int{"server_error": 500, "temporarily_unavailable": 503, "invalid_client": 400} {
		back, cookies = f.start(t)
		f.answer, f.status = map[string]any{"error": error}, status
		wantFault(error, back, cookies)
		f.answer, f.status = nil, 0
	}
	back, cookies = f.start(t)
	if _, _, err := visit(f.SignIn, back, cookies); err != nil {
		t.Errorf("back again: %v", err)
	}
}

// TestIssuer has a discovery document of another provider.
func TestIssuer(t *testing.T) {
	p := newProvider(t)
	back, err := url.Parse(returnURL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openid.New(openid.Options{Issuer: p.URL + "/", Discovery: p.URL + "/", ClientID: clientID, ReturnURL: back, Now: p.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := visit(s, returnURL, nil); err == nil || !strings.Contains(err.Error(), "did not match the issuer") {
		t.Errorf("got %v", err)
	}
}

// TestEmulator has the discovery document at an address other than the issuer, whose name is still
// in the tokens.
func TestEmulator(t *testing.T) {
	const issuer = "https://issuer.example.com"
	p := newProvider(t)
	f := &fixture{p, open(t, p, issuer)}
	back, cookies := f.start(t)
	wantRefused(t, "the emulator's own name", f.SignIn, back, cookies, "The sign-in could not be verified.")
	f.change = map[string]any{"iss": issuer}
	back, cookies = f.start(t)
	if _, _, err := visit(f.SignIn, back, cookies); err != nil {
		t.Error(err)
	}
}

// FuzzReturn comes back with anything. That must identify no one, except with what the provider
// gave.
func FuzzReturn(f *testing.F) {
	for _, query := range []string{"code=x&state=", "error=x&state=%00", "code&code&state&state", "code=%zz"} {
		f.Add(query, "x")
	}
	f.Fuzz(func(t *testing.T, query, cookie string) {
		s, err := openid.New(openid.Options{Issuer: "x:", Discovery: "x:", ReturnURL: new(url.URL), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		r := &http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: query}, Header: http.Header{"Cookie": {"lipsync_sign_in=" + cookie}}}
		if who, _, err := s.Identify(httptest.NewRecorder(), r); err == nil || who != (signin.Person{}) {
			t.Errorf("got %+v, %v", who, err)
		}
	})
}
