package lipsync_test

import (
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

func TestAuthenticate(t *testing.T) {
	f := newFixture(t)
	got, err := f.Authenticate(t.Context(), f.token)
	must(t, err)
	want(t, "caller", got, f.caller)

	half := len(f.token) / 2
	for _, token := range []string{
		"", "x", " ", f.token + "\n", " " + f.token, f.token[:half] + "\t" + f.token[half:],
		f.token + "\x00", f.token + "\u00a0", f.token[1:], strings.ToUpper(f.token), "\xff",
	} {
		_, err := f.Authenticate(t.Context(), token)
		wantError(t, token, err, lipsync.Unauthorized, "invalid token")
	}
}

func TestRevokedKey(t *testing.T) {
	f := newFixture(t)
	err := f.RevokeKey(t.Context(), "b", f.caller.KeyID)
	wantError(t, "another account's", err, lipsync.NotFound, "key not found")
	must(t, f.RevokeKey(t.Context(), "", f.caller.KeyID))
	_, err = f.Authenticate(t.Context(), f.token)
	wantError(t, "revoked", err, lipsync.Unauthorized, "invalid token")
}

func TestLastUsed(t *testing.T) {
	f := newFixture(t)
	start := f.clock.Now()
	for _, c := range []struct{ advance, want time.Duration }{
		{0, 0}, {59 * time.Second, 0}, {time.Second, time.Minute}, {time.Hour, 61 * time.Minute},
	} {
		f.clock.Advance(c.advance)
		_, err := f.Authenticate(t.Context(), f.token)
		must(t, err)
		keys, err := f.Store.Keys.List(t.Context(), "a")
		must(t, err)
		want(t, "last used", keys[0].LastUsed.Sub(start), c.want)
	}
}

func TestAllow(t *testing.T) {
	f := newFixture(t)
	for kind, limit := range map[lipsync.CallKind]int{lipsync.GenerateCall: 2, lipsync.ReadCall: 3} {
		for range limit {
			must(t, f.Allow(t.Context(), f.caller, kind))
		}
		err := f.Allow(t.Context(), f.caller, kind)
		wantError(t, string(kind), err, lipsync.RateLimited, "rate limit exceeded")
		want(t, "retry after", err.(*lipsync.Error).RetryAfter, time.Minute)
	}
	_, other := f.newCaller(t, "a", 0)
	must(t, f.Allow(t.Context(), other, lipsync.GenerateCall))
	for _, account := range []string{"a", "b"} {
		person := lipsync.Caller{Account: account}
		for _, code := range []lipsync.Code{"", "", lipsync.RateLimited} {
			want(t, "person of "+account, lipsync.CodeOf(f.Allow(t.Context(), person, lipsync.GenerateCall)), code)
		}
	}
	f.clock.Advance(time.Minute)
	must(t, f.Allow(t.Context(), f.caller, lipsync.GenerateCall))
}

func TestCreateKey(t *testing.T) {
	f := newFixture(t)
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
		_, _, err := f.CreateKey(t.Context(), c.account, c.name, c.limit)
		wantError(t, c.account+" "+c.name, err, code, c.message)
	}
}

func TestTokensDiffer(t *testing.T) {
	f := newFixture(t)
	other, _ := f.newCaller(t, "a", 0)
	want(t, "same token", other == f.token, false)
	want(t, "length", len(other), len("lipsync_")+43) // 256 bits at 6 a character
}
