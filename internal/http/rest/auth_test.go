package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
)

func TestTokenOf(t *testing.T) {
	for _, test := range []struct {
		authorization, apiKey, want, err string
	}{
		{"Bearer abc", "", "abc", ""},
		{"bEARER   abc  ", "", "abc", ""},
		{"-", "abc", "abc", ""},
		{"-", "\tabc ", "abc", ""},
		{"Bearer abc", "def", "abc", ""},
		{"Bearer a b", "", "a b", ""}, // Authenticate refuses it
		{"-", "-", "", "missing authorization header"},
		{"", "def", "", "missing token"},
		{"-", "", "", "missing token"},
		{"Bearer", "-", "", "missing token"},
		{"Bearer\tabc", "-", "", "invalid authorization format"},
		{"Bearerabc", "-", "", "invalid authorization format"},
		{"Digest abc", "-", "", "invalid authorization format"},
		{"abc", "-", "", "invalid authorization format"},
	} {
		h := http.Header{}
		if test.authorization != "-" {
			h.Set("Authorization", test.authorization)
		}
		if test.apiKey != "-" {
			h.Set("x-api-key", test.apiKey)
		}
		got, err := Token(h)
		message := ""
		if err != nil {
			message = failure.MessageOf(err)
		}
		if got != test.want || message != test.err {
			t.Errorf("%+v: got %q, %q", test, got, message)
		}
	}
}

// FuzzAuthorization checks that only the right header is accepted, and that every other one gets
// one of the contract's messages.
func FuzzAuthorization(f *testing.F) {
	for _, seed := range [][2]string{
		{"Bearer x", ""}, {"Bearer", "x"}, {"", "x"}, {"Basic eDp5", "x"}, {"bearer \u00a0", "\n"}, {"Bearer a, Bearer b", "a, b"}, {"\xff", "\x00"},
	} {
		f.Add(seed[0], seed[1])
	}
	fx := newFixture(f)
	token := fx.key(f)
	f.Fuzz(func(t *testing.T, authorization, apiKey string) {
		for _, header := range []http.Header{
			{"Authorization": {authorization}}, {"X-Api-Key": {apiKey}},
			{"Authorization": {authorization}, "X-Api-Key": {apiKey}}, {"Authorization": {authorization, apiKey}},
		} {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/users/me", nil)
			r.Header = header
			w := fx.call(r, "")
			fx.log.Reset()
			if strings.Contains(authorization+apiKey, token) {
				continue
			}
			switch got := errorOf(t, w); got {
			case "invalid authorization format", "missing token", "invalid token":
				if w.Code != http.StatusUnauthorized {
					t.Errorf("%q: got status %d, want 401", header, w.Code)
				}
			default:
				t.Errorf("%q: got %d %q", header, w.Code, got)
			}
		}
	})
}
