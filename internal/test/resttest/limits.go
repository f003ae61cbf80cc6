package resttest

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// order tests the order in which a service checks a call: its key, its rate (see rates), the content
// type, the body, the token limit.
func (s *suite) order(t *testing.T) {
	spent := s.keyOf(t, rand.Text(), 1)
	s.start(t, spent)
	form := formOf(t, video())
	form.token = spent
	s.table(t, []row{
		{"key before content type", generateCall("text/plain", "x").with("wrong"), 401, "invalid token"},
		{"key before query", call{method: http.MethodGet, path: "/v1/lipsync/requests?limit=0"}.with("wrong"), 401, "invalid token"},
		{"content type before body", generateCall("text/plain", "x").with(spent), 400, "content-type must be application/json"},
		{"body before token limit", generateCall("application/json", "{}").with(spent), 400, "expected exactly one video input"},
		{"form before token limit", form, 400, "audio file is required"},
		{"token limit", generateCall("application/json", good()).with(spent), 412, "token limit reached"},
	})
}

func (c call) with(token string) call {
	c.token = token
	return c
}

// tokenLimit checks that both kinds of generate calls count towards the token limit, and that
// refused calls and reads don't.
func (s *suite) tokenLimit(t *testing.T) {
	token := s.keyOf(t, rand.Text(), 2)
	form := formOf(t, video(), audio()).with(token)
	s.postJSON(t, token, "/v1/lipsync/generate", "{}").refused(t, 400, "expected exactly one video input")
	s.do(t, form).requestID(t)
	s.do(t, formOf(t, video()).with(token)).refused(t, 400, "audio file is required")
	id := s.start(t, token)
	s.postJSON(t, token, "/v1/lipsync/generate", good()).refused(t, http.StatusPreconditionFailed, "token limit reached")
	s.do(t, form).refused(t, http.StatusPreconditionFailed, "token limit reached")
	if p := s.page(t, token, ""); p.Pagination.Total != 2 || p.Data[0].ID != id {
		t.Errorf("got %+v, want 2 requests, newest %s", p, id)
	}
}

func (s *suite) idempotency(t *testing.T) {
	t.Run("JSON", func(t *testing.T) {
		s.repeat(t, generateCall("application/json", good()), generateCall("application/json", good(reference("other"))))
	})
	t.Run("form", func(t *testing.T) {
		s.repeat(t, formOf(t, video(), audio()), formOf(t, video(), part{"audio", "a.wav", "another audio"}))
	})
	t.Run("other endpoint", func(t *testing.T) {
		s.repeat(t, generateCall("application/json", good()), formOf(t, video(), audio()))
	})
	t.Run("key", func(t *testing.T) {
		const message = "Idempotency-Key must be 1 to 255 printable ASCII characters"
		bad := func(values ...string) call { return generateCall("application/json", good()).keyed(values...) }
		s.table(t, []row{
			{"empty", bad(""), 400, message},
			{"long", bad(strings.Repeat("k", 256)), 400, message},
			{"not ASCII", bad("é"), 400, message},
			{"tab", bad("a\tb"), 400, message},
			{"two", bad("a", "b"), 400, message},
			{"form", formOf(t, video(), audio()).keyed(""), 400, message},
			{"longest", bad(strings.Repeat("k", 255)), 200, ""},
		})
	})
}

func (c call) keyed(values ...string) call {
	c.header = http.Header{"Idempotency-Key": values}
	return c
}

// repeat checks that a repeated call gets the first answer, even if the limit of its key is used up,
// and that another call with the same idempotency key is refused.
func (s *suite) repeat(t *testing.T, first, other call) {
	key := rand.Text()
	token := s.keyOf(t, rand.Text(), 1)
	first, other = first.with(token).keyed(key), other.with(token).keyed(key)
	id := s.do(t, first).requestID(t)
	again := s.do(t, first)
	if got := again.requestID(t); got != id || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: got %s, replayed %q, want %s, true", got, again.header.Get("Idempotent-Replayed"), id)
	}
	s.do(t, other).refused(t, http.StatusUnprocessableEntity, "idempotency key was used with a different request")
	if p := s.page(t, token, ""); p.Pagination.Total != 1 {
		t.Errorf("got %d requests, want 1", p.Pagination.Total)
	}
	fresh := s.do(t, first.with(s.key(t)))
	if got := fresh.requestID(t); got == id || fresh.header.Get("Idempotent-Replayed") != "" {
		t.Error("another account with the same idempotency key got the same request")
	}
}

// rates uses up a key's rate for each kind of call. Then the key must still be able to make a call
// of the other kind.
func (s *suite) rates(t *testing.T) {
	var generates, reads []call
	for _, c := range s.protected(t) {
		if strings.HasPrefix(c.path, "/v1/lipsync/generate") || c.path == "/v1/lipsync/analyze" || c.path == "/v1/lipsync/estimate" ||
			c.method == http.MethodPost && c.path == "/v1/lipsync/batches" {
			generates = append(generates, c)
		} else {
			reads = append(reads, c)
		}
	}
	t.Run("generate", func(t *testing.T) {
		token := s.spend(t, generates, s.GenerateRate)
		s.get(t, token, "/v1/users/me").into(t, &struct{ Name string }{})
	})
	t.Run("read", func(t *testing.T) {
		token := s.spend(t, reads, s.ReadRate)
		s.start(t, token)
	})
}

// spend uses up the rate that the calls share and returns the token that it used. It tries up to
// three times, since the calls of one rate must be made within a minute.
func (s *suite) spend(t *testing.T, calls []call, rate int) (token string) {
	t.Helper()
	for range 3 {
		token = s.key(t)
		if s.spent(t, token, calls, rate) {
			return token
		}
	}
	t.Fatalf("three times, %d calls took more than a minute or were too many", rate)
	return ""
}

// spent makes the calls in turn until their rate is used up, and then checks that each is refused.
// The calls have no content type, since calls that are refused for that count too. spent reports
// false if a new minute began meanwhile. It also does so if fewer calls went through, since on AWS a
// call counts twice if its answer is lost between the service and its database.
func (s *suite) spent(t *testing.T, token string, calls []call, rate int) bool {
	t.Helper()
	start := time.Now()
	for n := range rate {
		got := s.do(t, calls[n%len(calls)].with(token))
		if got.status == http.StatusTooManyRequests {
			t.Logf("got %d after %d calls, want %d to go through", got.status, n, rate)
			return false
		}
		wantRate(t, got, rate, rate-n-1)
	}
	for _, c := range calls {
		got := s.do(t, c.with(token))
		if got.status != http.StatusTooManyRequests && time.Since(start) >= time.Minute {
			return false
		}
		got.refused(t, http.StatusTooManyRequests, "rate limit exceeded")
		wantRate(t, got, rate, 0)
		if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
			t.Errorf("got Retry-After %q, want whole seconds from 1 to 60", got.header.Get("Retry-After"))
		}
	}
	return true
}

// wantRate checks the headers about a rate, of which at most some calls are left.
func wantRate(t *testing.T, got reply, rate, most int) {
	t.Helper()
	var name string
	var limit, left, resets int
	if _, err := fmt.Sscanf(got.header.Get("RateLimit-Policy"), `%q;q=%d;w=60`, &name, &limit); err != nil || limit != rate || name != "generate" && name != "read" {
		t.Errorf("got RateLimit-Policy %q (%v), want one of %d calls", got.header.Get("RateLimit-Policy"), err, rate)
	}
	policy := name
	if _, err := fmt.Sscanf(got.header.Get("RateLimit"), `%q;r=%d;t=%d`, &name, &left, &resets); err != nil || name != policy || left > most || most == 0 && left != 0 || resets < 1 || resets > 60 {
		t.Errorf("got RateLimit %q (%v), want at most %d of %s", got.header.Get("RateLimit"), err, most, policy)
	}
}
