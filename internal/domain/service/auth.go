package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// touchEvery is the smallest time between two updates of Key.LastUsed. Most calls therefore only
// read the key.
const touchEvery = time.Minute

// Authenticate returns the caller with the token, or Unauthorized. It reads the key from the store
// each time, so it refuses a revoked key at once.
func (s *Service) Authenticate(ctx context.Context, token string) (lipsync.Caller, error) {
	if strings.ContainsFunc(token, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return lipsync.Caller{}, failure.New(failure.Unauthorized, "invalid token")
	}
	k, err := s.Store.Keys.ByHash(ctx, sha256.Sum256([]byte(token)))
	switch {
	case failure.CodeOf(err) == failure.NotFound, err == nil && !k.Active(s.Now()):
		return lipsync.Caller{}, failure.New(failure.Unauthorized, "invalid token")
	case err != nil:
		return lipsync.Caller{}, err
	}
	if now := s.Now(); now.Sub(k.LastUsed) >= touchEvery {
		// The call succeeds even if the time of the key's last use can't be stored.
		if err := s.Store.Keys.Touch(ctx, k.ID, now); err != nil {
			s.Log.WarnContext(ctx, "last use of a key not noted", "key", k.ID, "error", err)
		}
	}
	return lipsync.Caller{Account: k.Account, KeyID: k.ID, KeyName: k.Name, ReadOnly: k.ReadOnly}, nil
}

// ratesOfAccount is the number of keys with whose rates an account reaches its own, since it may have a thousand keys.
const ratesOfAccount = 10

// Allow counts one call of the kind in the rates of the caller's key and account, or returns RateLimited. All
// people of an account share the rate of one key.
func (s *Service) Allow(ctx context.Context, c lipsync.Caller, kind lipsync.CallKind) error {
	_, err := s.Take(ctx, c, kind)
	return err
}

// Rate returns the number of calls of the kind that a key may make in a minute.
func (s *Service) Rate(kind lipsync.CallKind) int {
	if kind == lipsync.GenerateCall {
		return s.GenerateRate
	}
	return s.ReadRate
}

// Take does the same as Allow, and returns what is left of the key's rate; of the account's, if that refuses the call.
func (s *Service) Take(ctx context.Context, c lipsync.Caller, kind lipsync.CallKind) (lipsync.Allowance, error) {
	limit := s.Rate(kind)
	who := c.KeyID
	if who == "" {
		who = "people of " + c.Account
	}
	a, err := s.Store.Rates.Take(ctx, string(kind)+"/"+who, limit, s.Now())
	if err == nil && !a.Refused { // otherwise the call doesn't count for the account: one key must not keep out the others
		var all lipsync.Allowance
		all, err = s.Store.Rates.Take(ctx, string(kind)+"/account "+c.Account, ratesOfAccount*min(limit, math.MaxInt/ratesOfAccount), s.Now())
		if all.Refused {
			a = all
		}
	}
	return a, cmp.Or(err, a.Refusal())
}

// keyStart is the number of a token's first characters that are stored: the common prefix and 4
// more characters, which are 24 of 256 random bits.
const keyStart = len("lipsync_") + 4

// CreateKey makes an API key without an end that may make limit requests, or any number if limit is 0. It returns
// the key's token, which is not stored.
func (s *Service) CreateKey(ctx context.Context, account, name string, limit int64) (token string, k lipsync.Key, err error) {
	return s.NewKey(ctx, lipsync.Key{Account: account, Name: name, Limit: limit})
}

// NewKey makes an API key with the Account, Name, Limit, ExpiresAt and ReadOnly of k. It returns the key's token, which is not stored.
func (s *Service) NewKey(ctx context.Context, k lipsync.Key) (token string, _ lipsync.Key, err error) {
	switch {
	case !order.ValidName(k.Account):
		return "", lipsync.Key{}, failure.New(failure.Invalid, "account must be 1 to 255 characters with no control characters")
	case !order.ValidName(k.Name):
		return "", lipsync.Key{}, failure.New(failure.Invalid, "name must be 1 to 255 characters with no control characters")
	case k.Limit < 0:
		return "", lipsync.Key{}, failure.New(failure.Invalid, "limit must be 0 or more")
	case !k.ExpiresAt.IsZero() && !s.Now().Before(k.ExpiresAt):
		return "", lipsync.Key{}, failure.New(failure.Invalid, "the end of a key must be in the future")
	}
	if err := s.roomForKey(ctx, k.Account); err != nil {
		return "", lipsync.Key{}, err
	}
	var secret [32]byte
	if _, err := io.ReadFull(s.Random, secret[:]); err != nil {
		return "", lipsync.Key{}, err
	}
	token = "lipsync_" + base64.RawURLEncoding.EncodeToString(secret[:])
	k.Start, k.ID, k.Hash, k.CreatedAt = token[:keyStart], s.NewID(), sha256.Sum256([]byte(token)), s.Now()
	k.ExpiresAt = lipsync.StoredTime(k.ExpiresAt)
	if err := s.Store.Keys.Create(ctx, k); err != nil {
		return "", lipsync.Key{}, err
	}
	return token, k, nil
}

// roomForKey returns KeyLimit if the account has as many active keys as it may have. Calls at the
// same time do not see each other's keys, so they may exceed the limit.
func (s *Service) roomForKey(ctx context.Context, account string) error {
	keys, err := s.Keys(ctx, account)
	if err != nil {
		return err
	}
	limit, active := s.Limits.Keys, 0
	for _, k := range keys {
		if k.Active(s.Now()) {
			active++
		}
	}
	if active >= limit {
		return failure.New(failure.KeyLimit, fmt.Sprintf("account has as many active keys as it may have, %d; revoke one first", limit))
	}
	return nil
}

// Keys returns the API keys of the account, or of all accounts if account is "", oldest first.
func (s *Service) Keys(ctx context.Context, account string) ([]lipsync.Key, error) {
	return s.Store.Keys.List(ctx, account)
}

// RevokeKey revokes a key of the account, or of any account if account is "". It returns NotFound
// if there is no such key. A revoked key stays as it is.
func (s *Service) RevokeKey(ctx context.Context, account, id string) error {
	err := s.Store.Keys.Revoke(ctx, account, id, s.Now())
	return failure.Restate(err, failure.NotFound, "key not found")
}
