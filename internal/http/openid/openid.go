// Package openid signs people in to the dashboard at an OpenID provider, such as Cognito. It uses
// an authorization code with PKCE, so the code is useless except to the browser that asked for it.
// There is no client secret.
package openid

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/signin"
)

// answerTime bounds each answer of the provider.
const answerTime = 5 * time.Second

// Options describes the provider, and this service as its client.
type Options struct {
	Issuer     string   // name of the provider in its tokens
	Discovery  string   // address of its discovery document: the same as Issuer, except on emulators
	ClientID   string   // name of this service
	ReturnURL  *url.URL // address of the sign-in page, where the provider sends people back
	SignOutURL *url.URL // where the provider's sign-out leads
	Secret     [32]byte // seals the cookies of unfinished sign-ins
	Now        func() time.Time
}

// SignIn signs people in by a provider of OpenID Connect.
type SignIn struct {
	options Options
	sealer  signin.Sealer
	client  *http.Client

	mu       sync.Mutex
	provider *oidc.Provider // nil until it is needed

	refreshes sync.Map // of *refresh, by the refresh token that they exchange
}

// New returns the sign-in. It first calls the provider when the first person comes.
func New(o Options) (*SignIn, error) {
	sealer, err := signin.NewSealer(o.Secret, cookieName)
	return &SignIn{options: o, sealer: sealer, client: &http.Client{Timeout: answerTime}}, err
}

var _ signin.SignIn = (*SignIn)(nil)

func (s *SignIn) SignOutURL() *url.URL { return s.options.SignOutURL }

// Identify sends a person to the provider, which sends them back
// to the same page with a code or an error.
func (s *SignIn) Identify(w http.ResponseWriter, r *http.Request) (who signin.Person, answered bool, err error) {
	ctx := oidc.ClientContext(r.Context(), s.client)
	back := r.URL.Query()
	if !back.Has("code") && !back.Has("error") {
		err := s.begin(ctx, w)
		return signin.Person{}, err == nil, err
	}
	a, err := s.resume(r, back.Get("state"))
	if err != nil {
		return signin.Person{}, false, err
	}
	s.setCookie(w, "", -1)
	if back.Has("error") {
		return signin.Person{}, false, refused("The sign-in was not completed.", fmt.Errorf("the provider says %q", back.Get("error")))
	}
	who, err = s.redeem(ctx, back.Get("code"), a)
	return who, false, err
}

// discover reads the provider's discovery document, once.
func (s *SignIn) discover(ctx context.Context) (*oidc.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.provider != nil {
		return s.provider, nil
	}
	if s.options.Discovery != s.options.Issuer {
		ctx = oidc.InsecureIssuerURLContext(ctx, s.options.Issuer)
	}
	found, err := oidc.NewProvider(ctx, s.options.Discovery)
	if err != nil {
		return nil, fmt.Errorf("find the provider: %w", err)
	}
	s.provider = found
	return found, nil
}

func (s *SignIn) oauth(provider *oidc.Provider) *oauth2.Config {
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInParams // otherwise it would try twice, but a code can be used only once
	return &oauth2.Config{
		ClientID: s.options.ClientID, Endpoint: endpoint, RedirectURL: s.options.ReturnURL.String(),
		Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

// redeem exchanges the code for a token that identifies the person.
func (s *SignIn) redeem(ctx context.Context, code string, a attempt) (signin.Person, error) {
	provider, err := s.discover(ctx)
	if err != nil {
		return signin.Person{}, err
	}
	token, err := s.oauth(provider).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.ErrorCode == "invalid_grant" {
		return signin.Person{}, refused("This sign-in was used already, or is too old.", err)
	}
	if err != nil {
		return signin.Person{}, fmt.Errorf("exchange the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := s.verify(ctx, provider, raw)
	if err != nil {
		return signin.Person{}, err
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return signin.Person{}, unproven(errors.New("the token has another nonce"))
	}
	if token.RefreshToken == "" {
		return signin.Person{}, errors.New("the provider gave no refresh token, so it could not be asked later whether the person may still sign in")
	}
	return person(id, token.RefreshToken)
}

// verify returns the content of an ID token of the provider for this service.
func (s *SignIn) verify(ctx context.Context, provider *oidc.Provider, raw string) (*oidc.IDToken, error) {
	id, err := provider.Verifier(&oidc.Config{ClientID: s.options.ClientID, Now: s.options.Now}).Verify(ctx, raw)
	if err != nil {
		return nil, unproven(err)
	}
	return id, nil
}

// exchange exchanges the refresh token, which the provider refuses if the person was disabled or deleted,
// or if their sessions were ended there.
func (s *SignIn) exchange(ctx context.Context, who signin.Person) (signin.Person, error) {
	ctx = oidc.ClientContext(ctx, s.client)
	provider, err := s.discover(ctx)
	if err != nil {
		return signin.Person{}, err
	}
	token, err := s.oauth(provider).TokenSource(ctx, &oauth2.Token{RefreshToken: who.Proof}).Token()
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.ErrorCode == "invalid_grant" {
		return signin.Person{}, refused("Your session has ended.", err)
	}
	if err != nil {
		return signin.Person{}, fmt.Errorf("confirm the person: %w", err)
	}
	who.Proof = token.RefreshToken
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return who, nil // OpenID Connect Core, 12.2: it may be missing
	}
	id, err := s.verify(ctx, provider, raw)
	if err != nil {
		return signin.Person{}, err
	}
	if id.Subject != who.Account {
		return signin.Person{}, unproven(errors.New("the token is of another person"))
	}
	return person(id, token.RefreshToken)
}

// person returns the person whom a token identifies, with the refresh token that confirms them later.
func person(id *oidc.IDToken, refresh string) (signin.Person, error) {
	var claims struct {
		Email string `json:"email"`
	}
	if err := id.Claims(&claims); err != nil {
		return signin.Person{}, unproven(err)
	}
	if id.Subject == "" {
		return signin.Person{}, unproven(errors.New("the token has no subject"))
	}
	return signin.Person{Account: id.Subject, Name: cmp.Or(claims.Email, id.Subject), Proof: refresh}, nil
}

// unproven returns the refusal for a token that doesn't prove who the person is.
func unproven(err error) error { return refused("The sign-in could not be verified.", err) }

// refused returns an error with a message for the person and a cause for the log.
func refused(message string, cause error) error {
	return &failure.Error{Code: failure.Unauthorized, Message: message, Err: cause}
}
