// Package signin identifies people who use the dashboard: on one machine by links that work once. It seals the cookies of their sessions.
package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"lipsync/internal/domain/failure"
)

// SignIn identifies a person: on one machine by links that work once (Folder), and on AWS by an
// OpenID provider.
type SignIn interface {
	// Identify returns the person who calls the sign-in page. If it has answered the call by a
	// redirect to a provider, from which the person comes back later, answered is true. The error
	// is Unauthorized if the call doesn't identify the person, with a message for that person. Of a
	// link that was only opened it is ErrOpened, and who is the person whom a POST of its token signs in.
	Identify(w http.ResponseWriter, r *http.Request) (who Person, answered bool, err error)
	// Confirm returns the person if they may still sign in, perhaps with another Proof. It returns
	// Unauthorized if they may not, for example because an operator disabled them. Any other error
	// means that it is not known.
	Confirm(ctx context.Context, who Person) (Person, error)
	// SignOutURL returns the provider's address to sign out, which leads back to the page
	// signed-out. It returns nil if there is no provider.
	SignOutURL() *url.URL
}

// Person is a person who signed in.
type Person struct {
	Account string // whose requests they see
	Name    string
	Role    Role   `json:",omitempty"` // of an invited person; "" for who has the account itself
	Proof   string `json:",omitempty"` // secret of SignIn, by which it confirms the person; "" if it needs none
}

// sessions is the name under which Sessions keeps the sessions of the person: the account, or the invited person.
func (p Person) sessions() string {
	if p.Role == "" {
		return p.Account
	}
	return invited(p.Account, p.Name)
}

// invited is a text that only the invited person has.
func invited(account, name string) string { return account + "\n" + name }

// parseInvited returns what invited made a text of. ok is false if the text is the name of an account.
func parseInvited(text string) (account, name string, ok bool) { return strings.Cut(text, "\n") }

// Owns reports whether the person may change keys, webhooks and people of the account.
func (p Person) Owns() bool { return p.Role != Member }

// Generation returns the name of the person's present sessions. It changes when those of the person, or all of the account, are ended.
func Generation(ctx context.Context, s Sessions, who Person) (string, error) {
	generation, err := s.Generation(ctx, who.Account)
	if err != nil || who.Role == "" {
		return generation, err
	}
	own, err := s.Generation(ctx, who.sessions())
	return generation + "." + own, err
}

// EndAll ends the sessions of the person in all browsers; of who has the account itself, also those of all whom they invited.
func EndAll(ctx context.Context, s Sessions, who Person) error { return s.EndAll(ctx, who.sessions()) }

// Sessions ends all sessions of a name at once, in all browsers.
type Sessions interface {
	// Generation returns the name of the account's present sessions: "" at first, and a new name
	// after each EndAll.
	Generation(ctx context.Context, account string) (string, error)
	EndAll(ctx context.Context, account string) error
}

// ErrOpened is the error of Identify for a good link that was only opened. Programs that show a preview of a link, or load it early, open it too.
var ErrOpened = errors.New("a link signs in by POST")

// Refused is the error of a person who may not sign in, with a message for them.
func Refused(message string) error {
	return &failure.Error{Code: failure.Unauthorized, Message: message}
}
