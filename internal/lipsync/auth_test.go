package lipsync_test

import (
	"strings"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

func TestAuthenticate(t *testing.T) {
	h := newFixture(t)
	got, err := h.Authenticate(t.Context(), h.token)
	must(t, err)
	want(t, "caller", got, h.caller)

	half := len(h.token) / 2
	for _, token := range []string{
		"", "x", " ", h.token + "\n", " " + h.token, h.token[:half] + "\t" + h.token[half:],
		h.token + "\x00", h.token + "\u00a0", h.token[1:], strings.ToUpper(h.token), "\xff",
	} {
		_, err := h.Authenticate(t.Context(), token)
		wantError(t, token, err, lipsync.Unauthorized, "invalid token")
	}
}

func TestRevokedKey(t *testing.T) {
	h := newFixture(t)
	err := h.RevokeKey(t.Context(), "b", h.caller.KeyID)
	wantError(t, "another account's", err, lipsync.NotFound, "key not found")
	must(t, h.RevokeKey(t.Context(), "", h.caller.KeyID))
	_, err = h.Authenticate(t.Context(), h.token)
	wantError(t, "revoked", err, lipsync.Unauthorized, "invalid token")
}

func TestLastUsed(t *testing.T) {
	h := newFixture(t)
	start := h.clock.Now()
	for _, c := range []struct{ advance, want time.Duration }{
		{0, 0}, {59 * time.Second, 0}, {time.Second, time.Minute}, {time.Hour, 61 * time.Minute},
	} {
		h.clock.Advance(c.advance)
		_, err := h.Authenticate(t.Context(), h.token)
		must(t, err)
		keys, err := h.Store.Keys.List(t.Context(), "a")
		must(t, err)
		want(t, "last used", keys[0].LastUsed.Sub(start), c.want)
	}
}

func TestAllow(t *testing.T) {
	h := newFixture(t)
	for kind, limit := range map[lipsync.CallKind]int{lipsync.GenerateCall: 2, lipsync.ReadCall: 3} {
		for range limit {
			must(t, h.Allow(t.Context(), h.caller, kind))
		}
		err := h.Allow(t.Context(), h.caller, kind)
		wantError(t, string(kind), err, lipsync.RateLimited, "rate limit exceeded")
		want(t, "retry after", err.(*lipsync.Error).RetryAfter, time.Minute)
	}
	_, other := h.newCaller(t, "a", 0)
	must(t, h.Allow(t.Context(), other, lipsync.GenerateCall))
	for _, account := range []string{"a", "b"} {
		person := lipsync.Caller{Account: account}
		for _, code := range []lipsync.Code{"", "", lipsync.RateLimited} {
			want(t, "person of "+account, lipsync.CodeOf(h.Allow(t.Context(), person, lipsync.GenerateCall)), code)
		}
	}
	h.clock.Advance(time.Minute)
	must(t, h.Allow(t.Context(), h.caller, lipsync.GenerateCall))
}

func TestCreateKey(t *testing.T) {
	h := newFixture(t)
	long := strings.Repeat("ü", 255)
	const badName = "name must be 1 to 255 characters with no control characters"
	for _, c := range []struct {
		account, name string
		limit         int64
		message       string
	}{
		{long, long, 1, ""},
		{"a", long + "x", 0, badName},
		{"a", "", 0, badName},
		{"a", "two\nlines", 0, badName},
		{"a", "\xff", 0, badName},
		{"", "x", 0, "account must be 1 to 255 characters with no control characters"},
		{"a", "x", -1, "limit must be 0 or more"},
	} {
		code := lipsync.Invalid
		if c.message == "" {
			code = ""
		}
		_, _, err := h.CreateKey(t.Context(), c.account, c.name, c.limit)
		wantError(t, c.account+" "+c.name, err, code, c.message)
	}
}

func TestTokensDiffer(t *testing.T) {
	h := newFixture(t)
	other, _ := h.newCaller(t, "a", 0)
	want(t, "same token", other == h.token, false)
	want(t, "length", len(other), len("lipsync_")+43) // 256 bits at 6 a character
}
