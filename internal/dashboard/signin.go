package dashboard

import (
	"net/http"

	"lipsync/internal/lipsync"
)

// signIn shows how to sign in, or does it.
func (p *pages) signIn(v *visit) error {
	who, answered, err := p.SignIn.Identify(v, v.Request)
	switch {
	case answered:
		return nil
	case lipsync.CodeOf(err) == lipsync.Unauthorized:
		insecure := p.base(v.Request).Scheme == "http" && !plainLoopback(p.base(v.Request))
		return v.show(http.StatusForbidden, "sign-in", "Sign in", signInPage{lipsync.MessageOf(err), insecure})
	case err != nil:
		return err
	}
	if err := v.begin(who); err != nil {
		return err
	}
	return v.leadTo(Root)
}

// signInPage says how to sign in.
type signInPage struct {
	Message  string
	Insecure bool // no browser keeps a session here
}

func (p *pages) signOut(v *visit) error {
	v.setCookie("", -1)
	return v.leadTo(Root + "/sign-in")
}

func (p *pages) signOutEverywhere(v *visit) error {
	if err := p.Sessions.EndAll(v.Context(), v.session.Account); err != nil {
		return err
	}
	return p.signOut(v)
}

func (p *pages) showSessions(v *visit) error {
	return v.show(http.StatusOK, "sessions", "Sessions", v.session)
}
