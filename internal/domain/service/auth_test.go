package service_test

import (
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

func TestAuthenticate(t *testing.T) {
	f := newFixture(t)
	got, err := f.Authenticate(t.Context(), f.token)
	check.Must(t, err)
	check.Want(t, "caller", got, f.caller)

	half := len(f.token) / 2
	for _, token := range []string{
		"", "x", " ", f.token + "\n", " " + f.token, f.token[:half] + "\t" + f.token[half:],
		f.token + "\x00", f.token + "\u00a0", f.token[1:], strings.ToUpper(f.token), "\xff",
	} {
		_, err := f.Authenticate(t.Context(), token)
		check.Error(t, token, err, failure.Unauthorized, "invalid token")
	}
}

func TestRevokedKey(t *testing.T) {
	f := newFixture(t)
	err := f.RevokeKey(t.Context(), "b", f.caller.KeyID)
	check.Error(t, "another account's", err, failure.NotFound, "key not found")
	check.Must(t, f.RevokeKey(t.Context(), "", f.caller.KeyID))
	_, err = f.Authenticate(t.Context(), f.token)
	check.Error(t, "revoked", err, failure.Unauthorized, "invalid token")
}

func TestLastUsed(t *testing.T) {
	f := newFixture(t)
	start := f.clock.Now()
	for _, c := range []struct{ advance, want time.Duration }{
		{0, 0}, {59 * time.Second, 0}, {time.Second, time.Minute}, {time.Hour, 61 * time.Minute},
	} {
		f.clock.Advance(c.advance)
		_, err := f.Authenticate(t.Context(), f.token)
		check.Must(t, err)
		keys, err := f.Store.Keys.List(t.Context(), "a")
		check.Must(t, err)
		check.Want(t, "last used", keys[0].LastUsed.Sub(start), c.want)
	}
}

// TestRateOfAccount calls with more keys of an account than have rates of their own. Another account is allowed.
func TestRateOfAccount(t *testing.T) {
	f := newFixture(t)
	allowed := 0
	for range 12 {
		_, c := f.newCaller(t, "a", 0)
		for range f.GenerateRate {
			if f.Allow(t.Context(), c, lipsync.GenerateCall) == nil {
				allowed++
			}
		}
	}
	check.Want(t, "calls of 12 keys", allowed, 10*f.GenerateRate)
	_, stranger := f.newCaller(t, "b", 0)
	check.Must(t, f.Allow(t.Context(), stranger, lipsync.GenerateCall))
	check.Must(t, f.Allow(t.Context(), f.caller, lipsync.ReadCall))
}

func TestAllow(t *testing.T) {
	f := newFixture(t)
	for kind, limit := range map[lipsync.CallKind]int{lipsync.GenerateCall: 2, lipsync.ReadCall: 3} {
		for range limit {
			check.Must(t, f.Allow(t.Context(), f.caller, kind))
		}
		err := f.Allow(t.Context(), f.caller, kind)
		check.Error(t, string(kind), err, failure.RateLimited, "rate limit exceeded")
		check.Want(t, "retry after", err.(*failure.Error).RetryAfter, time.Minute)
	}
	_, other := f.newCaller(t, "a", 0)
	check.Must(t, f.Allow(t.Context(), other, lipsync.GenerateCall))
	for _, account := range []string{"a", "b"} {
		person := lipsync.Caller{Account: account}
		for _, code := range []failure.Code{"", "", failure.RateLimited} {
			check.Want(t, "person of "+account, failure.CodeOf(f.Allow(t.Context(), person, lipsync.GenerateCall)), code)
		}
	}
	f.clock.Advance(time.Minute)
	check.Must(t, f.Allow(t.Context(), f.caller, lipsync.GenerateCall))
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
		code := failure.Invalid
		if c.message == "" {
			code = ""
		}
		_, _, err := f.CreateKey(t.Context(), c.account, c.name, c.limit)
		check.Error(t, c.account+" "+c.name, err, code, c.message)
	}
}

func TestTokensDiffer(t *testing.T) {
	f := newFixture(t)
	other, _ := f.newCaller(t, "a", 0)
	check.Want(t, "same token", other == f.token, false)
	check.Want(t, "length", len(other), len("lipsync_")+43) // 256 bits at 6 a character
}

// TestKeyBounds makes a key that may only read for an hour. At its end it is unknown, and takes none of the account's room.
func TestKeyBounds(t *testing.T) {
	f := newFixture(t)
	f.Limits.Keys = 2
	token, k, err := f.NewKey(t.Context(), lipsync.Key{Account: "a", Name: "reads", ReadOnly: true, ExpiresAt: f.clock.Now().Add(time.Hour)})
	check.Must(t, err)
	c, err := f.Authenticate(t.Context(), token)
	check.Must(t, err)
	check.Want(t, "caller", c, lipsync.Caller{Account: "a", KeyID: k.ID, KeyName: "reads", ReadOnly: true})
	_, _, err = f.CreateKey(t.Context(), "a", "third", 0)
	check.Want(t, "code", failure.CodeOf(err), failure.KeyLimit)
	f.clock.Advance(time.Hour)
	_, err = f.Authenticate(t.Context(), token)
	check.Error(t, "after its end", err, failure.Unauthorized, "invalid token")
	_, _, err = f.CreateKey(t.Context(), "a", "third", 0)
	check.Must(t, err)
	_, _, err = f.NewKey(t.Context(), lipsync.Key{Account: "a", Name: "past", ExpiresAt: f.clock.Now()})
	check.Error(t, "an end in the past", err, failure.Invalid, "the end of a key must be in the future")
}
