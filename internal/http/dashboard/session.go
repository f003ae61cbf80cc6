package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/signin"
)

const (
	sessionLife = 12 * time.Hour
	// confirmEvery is the time after which a session asks SignIn again whether its person may
	// still sign in. With the time that the answer takes, a person who may not loses the session
	// within 5 minutes.
	confirmEvery = 4 * time.Minute
	// maxCookie is the largest value of a cookie, in bytes. Browsers drop cookies of more than 4096
	// bytes with their name and attributes.
	maxCookie = 3900
)

// Names of cookies.
const (
	sessionCookie = "lipsync_session"
	wantedCookie  = "lipsync_wanted" // the page that was asked for before signing in
)

// session is the content of the cookie of a person who signed in.
type session struct {
	signin.Person
	Generation string    // name of the account's sessions
	CSRF       string    // a form that changes something has to send it
	Ends       time.Time // the end of the session, even if it is in use
	Confirmed  time.Time // when SignIn last said that the person may sign in
}

// begin signs a person in.
func (v *visit) begin(who signin.Person) error {
	generation, err := signin.Generation(v.Context(), v.pages.Sessions, who)
	if err != nil {
		return err
	}
	now := v.pages.service.Now()
	return v.keep(session{who, generation, rand.Text(), now.Add(sessionLife), now})
}

// keep stores the session in the browser until the session ends.
func (v *visit) keep(s session) error {
	sealed, err := v.pages.sealer.Seal(s)
	if err != nil {
		return err
	}
	if len(sealed) > maxCookie {
		return fmt.Errorf("the cookie of the session has %d bytes, more than the %d that browsers keep", len(sealed), maxCookie)
	}
	v.setCookie(sessionCookie, v.pages.root, sealed, s.Ends.Sub(v.pages.service.Now()))
	return nil
}

// cookieName returns the name of a cookie in the browser. On this machine the name has the port,
// since browsers don't separate the cookies of a host's ports, and several services may run here.
// Elsewhere it has a prefix with which browsers take no cookie from an answer without encryption.
func (v *visit) cookieName(name string) string {
	base := v.pages.base(v.Request)
	if !plainLoopback(base) {
		return "__Secure-" + name
	}
	if port := base.Port(); port != "" {
		return name + "_" + port
	}
	return name
}

// setCookie keeps a value in the browser, for the pages under a path.
func (v *visit) setCookie(name, path, value string, life time.Duration) {
	http.SetCookie(v, &http.Cookie{
		Name: v.cookieName(name), Value: value, Path: path, MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: !plainLoopback(v.pages.base(v.Request)), SameSite: http.SameSiteLaxMode,
	})
}

// dropCookie removes a cookie from the browser.
func (v *visit) dropCookie(name, path string) { v.setCookie(name, path, "", -time.Second) }

// plainLoopback reports whether the address is this machine's own, with http. Only there a browser
// may send the cookies without encryption.
func plainLoopback(base *url.URL) bool {
	if base.Scheme != "http" {
		return false
	}
	ip, err := netip.ParseAddr(base.Hostname())
	return base.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// resume returns the session of the call's cookie, nil if it has none that is valid.
func (v *visit) resume() (*session, error) {
	cookie, err := v.Cookie(v.cookieName(sessionCookie))
	if err != nil {
		return nil, nil
	}
	var s session
	if v.pages.sealer.Open(cookie.Value, &s) != nil || !v.pages.service.Now().Before(s.Ends) {
		return nil, nil
	}
	generation, err := signin.Generation(v.Context(), v.pages.Sessions, s.Person)
	if err != nil || generation != s.Generation {
		return nil, err
	}
	return v.confirm(s)
}

// confirm asks SignIn, after confirmEvery, whether the session's person may still sign in. It
// returns nil if they may not.
func (v *visit) confirm(s session) (*session, error) {
	now := v.pages.service.Now()
	if age := now.Sub(s.Confirmed); age >= 0 && age < confirmEvery {
		return &s, nil
	}
	who, err := v.pages.SignIn.Confirm(v.Context(), s.Person)
	switch failure.CodeOf(err) {
	case "":
		s.Person, s.Confirmed = who, now
		return &s, v.keep(s)
	case failure.Unauthorized:
		v.pages.Log.Info("session ended", "account", s.Account, "cause", errors.Unwrap(err))
		v.dropCookie(sessionCookie, v.pages.root)
		return nil, nil
	default:
		return nil, err
	}
}

// signedIn lets only calls through of people who are signed in. It lets changes through only if one of
// the dashboard's own pages sent them.
func (p *pages) signedIn(h handler) handler {
	return func(v *visit) (err error) {
		if v.session, err = v.resume(); err != nil {
			return err
		}
		reads := v.Method == http.MethodGet || v.Method == http.MethodHead
		switch {
		case v.session == nil && reads:
			return v.askToSignIn()
		case v.session == nil:
			return signin.Refused("your session has ended: sign in again")
		case reads:
			return h(v)
		}
		return ownForm(func(v *visit) error {
			if err := v.checkToken(); err != nil {
				return err
			}
			return h(v)
		})(v)
	}
}

// ownForm lets only calls through that no page of another site made.
func ownForm(h handler) handler {
	var origin http.CrossOriginProtection
	return func(v *visit) error {
		if err := origin.Check(v.Request); err != nil {
			return &failure.Error{Code: failure.Unauthorized, Message: "this came from another site", Err: err}
		}
		return h(v)
	}
}

// checkToken reads the form, and checks that it has the session's token.
func (v *visit) checkToken() error {
	if err := v.ParseForm(); err != nil {
		if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &failure.Error{Code: failure.TooLarge, Message: failure.LargerThan("form", e.Limit)}
		}
		return &failure.Error{Code: failure.Invalid, Message: "this form can't be read", Err: err}
	}
	if subtle.ConstantTimeCompare([]byte(v.PostForm.Get("csrf")), []byte(v.session.CSRF)) != 1 {
		return signin.Refused("this form is out of date: go back, load the page again, and send it once more")
	}
	return nil
}
