package openid

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	cookieName  = "lipsync_sign_in"
	attemptLife = 10 * time.Minute
)

// attempt is one sign-in: the values that must come back from the provider, and those that only
// this service may know. A cookie of the browser that began it contains them.
type attempt struct {
	State    string // comes back with the code
	Nonce    string // comes back in the token
	Verifier string // of PKCE
	Ends     time.Time
}

// begin sends a person to the provider, to sign in there again. Without that, every browser that
// the provider remembers would begin a new session after all sessions were ended.
func (s *SignIn) begin(ctx context.Context, w http.ResponseWriter) error {
	provider, err := s.discover(ctx)
	if err != nil {
		return err
	}
	a := attempt{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), s.options.Now().Add(attemptLife)}
	sealed, err := s.sealer.Seal(a)
	if err != nil {
		return err
	}
	s.setCookie(w, sealed, int(attemptLife.Seconds()))
	w.Header().Set("Location", s.oauth(provider).AuthCodeURL(a.State, oidc.Nonce(a.Nonce),
		oauth2.S256ChallengeOption(a.Verifier), oauth2.SetAuthURLParam("prompt", "login")))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// resume returns the attempt that a person comes back from. It leaves the cookie of another
// attempt, in another tab, since that one may still succeed.
func (s *SignIn) resume(r *http.Request, state string) (a attempt, err error) {
	cookie, err := r.Cookie(cookieName)
	if err == nil {
		err = s.sealer.Open(cookie.Value, &a)
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(state), []byte(a.State)) != 1 {
		return attempt{}, refused("This sign-in ended already, or began in another tab or browser.", err)
	}
	if !s.options.Now().Before(a.Ends) {
		return attempt{}, refused("This sign-in took longer than 10 minutes.", nil)
	}
	return a, nil
}

// setCookie keeps an attempt in the browser for maxAge seconds; -1 deletes it. The cookie must be
// sent when the provider, which is another site, sends the browser back.
func (s *SignIn) setCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: s.options.ReturnURL.Path, MaxAge: maxAge,
		HttpOnly: true, Secure: s.options.ReturnURL.Scheme == "https", SameSite: http.SameSiteLaxMode,
	})
}
