package openid_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"lipsync/internal/test/lipsynctest"
)

const clientID = "dashboard"

// provider is an OpenID provider with one user, who is signed in there.
type provider struct {
	*httptest.Server
	t     *testing.T
	clock *lipsynctest.Clock
	key   *rsa.PrivateKey
	codes map[string]url.Values // the call for which each unused code was made
	down  atomic.Bool
	finds atomic.Int32 // reads of the discovery document
	gone  bool         // the user was disabled

	rotates   atomic.Bool  // takes each refresh token once, and gives a new one for it
	refreshed atomic.Int32 // exchanges of a refresh token, if it rotates

	// These change the next token.
	change map[string]any // its claims; nil leaves one out
	signer *jose.SigningKey
	answer map[string]any // the answer instead of one with the token
	status int
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t, clock: lipsynctest.NewClock(), key: newKey(t), codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.document)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.write(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.down.Load() {
			http.Error(w, "down for maintenance", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (p *provider) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if p.status != 0 {
		w.WriteHeader(p.status)
	}
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

func (p *provider) document(w http.ResponseWriter, _ *http.Request) {
	p.finds.Add(1)
	p.write(w, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

// authorize sends the user back immediately.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": clientID, "redirect_uri": returnURL, "scope": "openid email", "code_challenge_method": "S256",
		"prompt": "login",
	} {
		if got := asked.Get(name); got != want {
			p.t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	code := rand.Text()
	p.codes[code] = asked
	http.Redirect(w, r, returnURL+"?"+url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode(), http.StatusFound)
}

// token exchanges a code for a token, once.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("grant_type") == "refresh_token" {
		p.refresh(w, r)
		return
	}
	asked, good := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	if !good || r.FormValue("client_id") != clientID || r.FormValue("redirect_uri") != returnURL ||
		oauth2.S256ChallengeFromVerifier(r.FormValue("code_verifier")) != asked.Get("code_challenge") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		p.write(w, map[string]string{"error": "invalid_grant"})
		return
	}
	if p.answer != nil {
		p.write(w, p.answer)
		return
	}
	p.write(w, map[string]any{"access_token": "a", "token_type": "Bearer", "refresh_token": refreshToken, "id_token": p.sign(asked.Get("nonce"))})
}

const refreshToken = "again"

// refresh exchanges a refresh token for a new ID token, which has no nonce.
func (p *provider) refresh(w http.ResponseWriter, r *http.Request) {
	if p.rotates.Load() {
		p.rotate(w, r)
		return
	}
	switch {
	case p.gone || r.FormValue("refresh_token") != refreshToken || r.FormValue("client_id") != clientID:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		p.write(w, map[string]string{"error": "invalid_grant"})
	case p.answer != nil:
		p.write(w, p.answer)
	default:
		p.write(w, map[string]any{"access_token": "b", "token_type": "Bearer", "id_token": p.sign("")})
	}
}

// rotate exchanges the newest refresh token for a longer one.
func (p *provider) rotate(w http.ResponseWriter, r *http.Request) {
	sent := r.FormValue("refresh_token")
	if n := p.refreshed.Add(1); sent != refreshToken+strings.Repeat("+", int(n)-1) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		p.write(w, map[string]string{"error": "invalid_grant"})
		return
	}
	p.write(w, map[string]any{"access_token": "b", "token_type": "Bearer", "refresh_token": sent + "+", "id_token": p.sign("")})
}

func (p *provider) sign(nonce string) string {
	now := p.clock.Now()
	claims := map[string]any{
		"iss": p.URL, "aud": clientID, "sub": "user-1", "email": "a@example.com", "nonce": nonce,
		"iat": now.Unix(), "exp": now.Unix() + 3600,
	}
	for name, value := range p.change {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	with := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}
	if p.signer != nil {
		with = *p.signer
	}
	text, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	signer, err := jose.NewSigner(with, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		p.t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}
