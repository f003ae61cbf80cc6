package openid

import (
	"context"
	"sync"
	"time"

	"lipsync/internal/http/signin"
)

// refreshLife is the time for which the result of a refresh is kept. It is longer than a browser takes to ask for
// the pages and pictures that it asks for at once.
const refreshLife = time.Minute

// refresh is one exchange of a refresh token.
type refresh struct {
	once sync.Once
	who  signin.Person
	err  error
}

// Confirm asks the provider. Providers that rotate refresh tokens end a session whose token comes twice. So
// calls of this process with the same token share one exchange, also those that come a moment later with the
// older cookie.
func (s *SignIn) Confirm(ctx context.Context, who signin.Person) (signin.Person, error) {
	kept, _ := s.refreshes.LoadOrStore(who.Proof, &refresh{})
	r := kept.(*refresh)
	r.once.Do(func() {
		r.who, r.err = s.exchange(context.WithoutCancel(ctx), who)
		forget := func() { s.refreshes.CompareAndDelete(who.Proof, r) }
		if r.err != nil || r.who.Proof == who.Proof { // nothing was rotated
			forget()
			return
		}
		time.AfterFunc(refreshLife, forget)
	})
	return r.who, r.err
}
