package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// keysPage is a page of the account's keys, newest first, and the key that was just made.
type keysPage struct {
	Keys          []shownKey
	Pager         pager
	Token         string    // of the new key, shown only once
	Base          string    // of the API's addresses
	Account       string    // name of the account for people
	Owned, People bool      // the person may change keys; and invite people here
	Wanted        wantedKey // as the person sent it, if it could not be used
	Problem, CSRF string
}

// shownKey is a key, and when it ended; zero if it may still be used.
type shownKey struct {
	lipsync.Key
	Ended time.Time
}

// wantedKey has the fields of the form that makes a key.
type wantedKey struct {
	Name, Limit, Days string // Days: after which the key expires, "" for never
	ReadOnly          bool
}

// readWantedKey returns the fields of a form.
func readWantedKey(form url.Values) wantedKey {
	field := func(name string) string { return strings.TrimSpace(form.Get(name)) }
	return wantedKey{field("name"), field("limit"), field("days"), form.Get("read_only") != ""}
}

// maxDays is the largest number of days after which a new key may expire.
const maxDays = 3650

// whole returns the number of a field, 0 if it is empty.
func whole(field string, most int64, problem string) (int64, error) {
	if field == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, failure.New(failure.Invalid, problem)
	}
	return n, nil
}

// key returns the key that the fields describe, for an account.
func (w wantedKey) key(account string, now time.Time) (lipsync.Key, error) {
	limit, err := whole(w.Limit, math.MaxInt64, "limit must be a whole number from 1, or nothing for any number of requests")
	days, daysErr := whole(w.Days, maxDays, fmt.Sprintf("days must be a whole number from 1 to %d, or nothing for a key that doesn’t expire", maxDays))
	k := lipsync.Key{Account: account, Name: w.Name, Limit: limit, ReadOnly: w.ReadOnly}
	if days > 0 {
		k.ExpiresAt = now.AddDate(0, 0, int(days))
	}
	return k, cmp.Or(err, daysErr)
}

func (p *pages) listKeys(v *visit) error { return p.showKeys(v, http.StatusOK, keysPage{}) }

func (p *pages) showKeys(v *visit, status int, k keysPage) error {
	keys, err := p.service.Keys(v.Context(), v.session.Account)
	if err != nil {
		return err
	}
	slices.Reverse(keys)
	total, f := int64(len(keys)), readFilter(v.URL.Query())
	keys = keys[min(f.Offset, total):]
	keys = keys[:min(pageSize, len(keys))]
	k.Pager = newPager(f, len(keys), total)
	for _, one := range keys {
		k.Keys = append(k.Keys, shownKey{one, one.Ended(p.service.Now())})
	}
	k.Account, k.Base, k.CSRF = v.session.Name, p.apiURL(v.Request), v.session.CSRF
	k.Owned = v.session.Owns()
	k.People = k.Owned && p.People != nil
	return v.show(status, "keys", "API Keys", k)
}

// createKey makes a key and shows it in the answer itself. So no address has the key, and a reloaded
// page doesn't show it.
func (p *pages) createKey(v *visit) error {
	k := keysPage{Wanted: readWantedKey(v.PostForm)}
	token, err := p.newKey(v, k.Wanted)
	switch failure.CodeOf(err) {
	case "":
		return p.showKeys(v, http.StatusOK, keysPage{Token: token})
	case failure.Invalid:
		k.Problem = failure.MessageOf(err)
		return p.showKeys(v, http.StatusBadRequest, k)
	case failure.KeyLimit:
		k.Problem = failure.MessageOf(err)
		return p.showKeys(v, http.StatusTooManyRequests, k)
	default:
		return err
	}
}

// newKey makes a key. That counts as a generate call of the dashboard: each key has a rate of its own,
// so the number of new keys must be limited too.
func (p *pages) newKey(v *visit, wanted wantedKey) (token string, err error) {
	k, err := wanted.key(v.session.Account, p.service.Now())
	if err == nil {
		err = p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall)
	}
	if err != nil {
		return "", err
	}
	token, _, err = p.service.NewKey(v.Context(), k)
	return token, err
}

// revokePage asks before a key is revoked.
type revokePage struct {
	lipsync.Key
	CSRF string
}

func (p *pages) askRevoke(v *visit) error {
	keys, err := p.service.Keys(v.Context(), v.session.Account)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(keys, func(k lipsync.Key) bool { return k.ID == v.PathValue("id") })
	if i < 0 || !keys[i].Active(p.service.Now()) {
		return missing()
	}
	return v.show(http.StatusOK, "revoke", "Revoke a key", revokePage{keys[i], v.session.CSRF})
}

func (p *pages) revokeKey(v *visit) error {
	if err := p.service.RevokeKey(v.Context(), v.session.Account, v.PathValue("id")); err != nil {
		return err
	}
	return v.leadTo(p.root + "/settings/keys")
}
