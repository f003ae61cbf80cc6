package dashboard

import (
	"errors"
	"lipsync/internal/http/signin"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestConfirm disables a person at the provider. Their session ends within 5 minutes, that of another
// person goes on, and the provider is asked no more often than each 4 minutes.
func TestConfirm(t *testing.T) {
	f, p := newStage(t)
	f.get(t, "/api/dashboard/sign-in?name=a").mustLead(t, "/api/dashboard")
	a := f.browser
	f.browser = f.newBrowser(t)
	f.get(t, "/api/dashboard/sign-in?name=b").mustLead(t, "/api/dashboard")
	b := f.browser
	for range 4 * 60 {
		f.get(t, "/api/dashboard").must(t, http.StatusOK)
		f.clock.Advance(2 * time.Second)
	}
	if p.confirms != 1 {
		t.Errorf("got %d confirmations in 8 minutes, want 1", p.confirms)
	}
	p.gone = map[string]bool{"id of a": true}
	f.clock.Advance(confirmEvery)
	f.get(t, "/api/dashboard").must(t, http.StatusOK)
	f.browser = a
	f.get(t, "/api/dashboard").mustLead(t, "/api/dashboard/sign-in")
	p.gone = nil // the session is over, even if the person may sign in again
	f.get(t, "/api/dashboard").mustLead(t, "/api/dashboard/sign-in")
	f.browser = b
	f.get(t, "/api/dashboard").must(t, http.StatusOK)
	f.Close()
	if !strings.Contains(f.log.String(), "this person was disabled") {
		t.Errorf("the log lacks the cause: %s", f.log)
	}
}

// TestConfirmLater has a provider that can't be reached. The page says that it doesn't work, and the
// session goes on when the provider is back.
func TestConfirmLater(t *testing.T) {
	f, p := newStage(t)
	f.get(t, "/api/dashboard/sign-in?name=a").mustLead(t, "/api/dashboard")
	f.clock.Advance(confirmEvery)
	p.err = errors.New("no route to host")
	f.get(t, "/api/dashboard").must(t, http.StatusInternalServerError)
	p.err = nil
	f.get(t, "/api/dashboard").must(t, http.StatusOK)
}

// TestConfirmKeepsEnd checks that confirmations don't make a session longer.
func TestConfirmKeepsEnd(t *testing.T) {
	f, _ := newStage(t)
	f.get(t, "/api/dashboard/sign-in?name=a").mustLead(t, "/api/dashboard")
	for range 12 * 60 / 5 {
		f.get(t, "/api/dashboard").must(t, http.StatusOK)
		f.clock.Advance(5 * time.Minute)
	}
	f.get(t, "/api/dashboard").mustLead(t, "/api/dashboard/sign-in")
}

// TestLargeProof has a provider whose proof doesn't fit into a cookie. That is an error, since the
// browser would drop the cookie without a word.
func TestLargeProof(t *testing.T) {
	f := newFixture(t)
	f.change = func(o *Options) { o.SignIn = proven{f.folder, strings.Repeat("x", 4000)} }
	w := httptest.NewRecorder()
	f.handler(t).ServeHTTP(w, httptest.NewRequest(http.MethodPost, f.newLink(t), nil))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(f.log.String(), "more than the 3900 that browsers keep") {
		t.Errorf("got %d, log %s", w.Code, f.log)
	}
}

// proven is the sign-in of one machine with a proof.
type proven struct {
	*signin.Folder
	proof string
}

func (p proven) Identify(w http.ResponseWriter, r *http.Request) (signin.Person, bool, error) {
	who, answered, err := p.Folder.Identify(w, r)
	who.Proof = p.proof
	return who, answered, err
}
