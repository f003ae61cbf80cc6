package resttest

import (
	"crypto/rand"
	"net/http"
	"testing"
)

func (s *suite) tokens(t *testing.T) {
	t.Run("needed", func(t *testing.T) {
		for _, c := range s.protected(t) {
			s.do(t, c).refused(t, http.StatusUnauthorized, "missing authorization header")
		}
	})
	t.Run("headers", s.tokenHeaders)
	t.Run("revoked", func(t *testing.T) {
		token, revoke := s.NewKey(t, rand.Text(), "to revoke", 0)
		s.get(t, token, "/v1/users/me").into(t, &struct{ Name string }{})
		revoke()
		s.get(t, token, "/v1/users/me").refused(t, http.StatusUnauthorized, "invalid token")
	})
}

func (s *suite) tokenHeaders(t *testing.T) {
	const name = "clé de « test » 1"
	token, _ := s.NewKey(t, rand.Text(), name, 0)
	bearer := func(values ...string) http.Header { return http.Header{"Authorization": values} }
	apiKey := func(values ...string) http.Header { return http.Header{"X-Api-Key": values} }
	both := func(bearer, key string) http.Header {
		return http.Header{"Authorization": {bearer}, "X-Api-Key": {key}}
	}
	for _, row := range []struct {
		name   string
		header http.Header
		want   string // error, or "" for a good call
	}{
		{"bearer", bearer("Bearer " + token), ""},
		{"lower case", bearer("bearer " + token), ""},
		{"upper case", bearer("BEARER " + token), ""},
		{"x-api-key", apiKey(token), ""},
		{"both, Authorization good", both("Bearer "+token, "wrong"), ""},

		{"both, Authorization unknown", both("Bearer wrong", token), "invalid token"},
		{"both, Authorization malformed", both("Basic wrong", token), "invalid authorization format"},
		{"both, Authorization empty", both("Bearer", token), "missing token"},
		{"no scheme", bearer(token), "invalid authorization format"},
		{"other scheme", bearer("Basic " + token), "invalid authorization format"},
		{"scheme runs on", bearer("Bearer:" + token), "invalid authorization format"},
		{"empty header", bearer(""), "missing token"},
		{"scheme alone", bearer("Bearer"), "missing token"},
		{"scheme and space", bearer("Bearer  "), "missing token"},
		{"x-api-key empty", apiKey(""), "missing token"},
		{"unknown", bearer("Bearer " + token + "x"), "invalid token"},
		{"x-api-key unknown", apiKey("x" + token), "invalid token"},
		{"x-api-key with a scheme", apiKey("Bearer " + token), "invalid token"},
		{"space inside", bearer("Bearer " + token[:9] + " " + token[9:]), "invalid token"},
		{"tab inside", bearer("Bearer " + token[:9] + "\t" + token[9:]), "invalid token"},
		{"x-api-key, space inside", apiKey(token[:9] + " " + token[9:]), "invalid token"},
		{"wide space inside", bearer("Bearer " + token[:9] + "\u00a0" + token[9:]), "invalid token"},
		{"sent twice", bearer("Bearer "+token, "Bearer "+token), "invalid token"},
		{"x-api-key sent twice", apiKey(token, token), "invalid token"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := s.do(t, call{method: http.MethodGet, path: "/v1/users/me", header: row.header})
			if row.want != "" {
				got.refused(t, http.StatusUnauthorized, row.want)
				return
			}
			var user struct{ Name string }
			got.into(t, &user)
			if user.Name != name {
				t.Errorf("got name %q, want %q", user.Name, name)
			}
		})
	}
}

// readOnly makes each call with a key that may only read.
func (s *suite) readOnly(t *testing.T) {
	if s.NewReadOnly == nil {
		t.Skip("the target makes no such keys")
	}
	token := s.NewReadOnly(t, rand.Text())
	for _, c := range s.protected(t) {
		got := s.do(t, c.with(token))
		if c.method == http.MethodGet {
			if got.status == http.StatusForbidden {
				t.Errorf("%s: got 403", c.path)
			}
			continue
		}
		got.refused(t, http.StatusForbidden, "key is read-only: it can't make, change or delete anything")
	}
}
