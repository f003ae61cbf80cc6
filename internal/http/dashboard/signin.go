package dashboard

import (
	"errors"
	"net/http"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/signin"
)

// signIn signs a person in, or shows how to sign in. It shows errors on the same page, which never
// redirects, so that no browser is redirected for ever.
func (p *pages) signIn(v *visit) error {
	if v.Method == http.MethodHead { // HEAD must not use up the answer of a provider
		return v.showSignIn(http.StatusForbidden, "")
	}
	who, answered, err := p.SignIn.Identify(v, v.Request)
	if answered {
		return nil
	}
	if errors.Is(err, signin.ErrOpened) {
		return v.show(http.StatusOK, "sign-in", "Sign in", signInPage{Token: v.URL.Query().Get("token"), Name: who.Name, Account: who.Account})
	}
	if err == nil {
		err = v.begin(who)
	}
	switch failure.CodeOf(err) {
	case "":
		return v.leadTo(v.wanted())
	case failure.Unauthorized:
		if s, _ := v.resume(); s != nil { // the person is signed in already
			return v.leadTo(p.root)
		}
		return errors.Join(errors.Unwrap(err), v.showSignIn(http.StatusForbidden, failure.MessageOf(err))) // the cause is for the log
	default:
		const sorry = "Signing in doesn’t work just now. The fault is not yours: try again in a moment."
		return errors.Join(err, v.showSignIn(http.StatusServiceUnavailable, sorry))
	}
}

// askToSignIn leads to the sign-in page. A cookie keeps the page that the person asked for, for as
// long as signing in may take.
func (v *visit) askToSignIn() error {
	root, wanted := v.pages.root, v.URL.RequestURI()
	if wanted == root {
		v.dropCookie(wantedCookie, root+"/sign-in")
		return v.leadTo(root + "/sign-in")
	}
	sealed, err := v.pages.wanted.Seal(wanted)
	if err != nil {
		return err
	}
	v.setCookie(wantedCookie, root+"/sign-in", sealed, signin.LinkLife)
	return v.leadTo(root + "/sign-in")
}

// wanted returns the page that the person asked for, and removes its cookie. Without that cookie it
// returns the first page.
func (v *visit) wanted() (path string) {
	cookie, err := v.Cookie(v.cookieName(wantedCookie))
	if err != nil {
		return v.pages.root
	}
	v.dropCookie(wantedCookie, v.pages.root+"/sign-in")
	if v.pages.wanted.Open(cookie.Value, &path) != nil {
		return v.pages.root
	}
	return path
}

// signInPage is the page that says how to sign in.
type signInPage struct {
	SignedOut     bool   // the person has just signed out
	Token         string // of a good link, "" if there is none
	Name, Account string // whom the link signs in, and to which account
	Message       string // why signing in failed, "" if it was not tried
	Elsewhere     bool   // people sign in at a provider
	Insecure      bool   // browsers keep no session at this address
}

func (v *visit) showSignIn(status int, message string) error {
	base := v.pages.base(v.Request)
	return v.show(status, "sign-in", "Sign in", signInPage{
		Message: message, Elsewhere: v.pages.SignIn.SignOutURL() != nil,
		Insecure: base.Scheme == "http" && !plainLoopback(base),
	})
}

// signOut ends the session of this browser, and that with the provider. If the form asks for it, it ends all sessions of the person, in all
// browsers.
func (p *pages) signOut(v *visit) error {
	if v.PostForm.Has("everywhere") {
		if err := signin.EndAll(v.Context(), p.Sessions, v.session.Person); err != nil {
			return err
		}
	}
	v.dropCookie(sessionCookie, p.root)
	v.Header().Set("Clear-Site-Data", `"storage"`) // the API key of the page about the API, and the names and choices of a form
	if provider := p.SignIn.SignOutURL(); provider != nil {
		return v.leadTo(provider.String())
	}
	return v.leadTo(p.root + "/sign-in")
}

func (p *pages) signedOut(v *visit) error {
	return v.show(http.StatusOK, "sign-in", "Signed out", signInPage{SignedOut: true, Elsewhere: p.SignIn.SignOutURL() != nil})
}
