package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// keysPage is a page of the account's keys, newest first, and the key that was just made.
type keysPage struct {
	Keys          []lipsync.Key
	Pager         pager
	Token         string // of the new key, shown only once
	Base          string // of the API's addresses
	Account       string // name of the account for people
	Owned, People bool   // the person may change keys; and invite people here
	Name, Limit   string // as the person sent them, if they could not be used
	Problem, CSRF string
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
	k.Keys, k.Account, k.Base, k.CSRF = keys, v.session.Name, p.apiURL(v.Request), v.session.CSRF
	k.Owned = v.session.Owns()
	k.People = k.Owned && p.People != nil
	return v.show(status, "keys", "API Keys", k)
}

// createKey makes a key and shows it in the answer itself. So no address has the key, and a reloaded
// page doesn't show it.
func (p *pages) createKey(v *visit) error {
	k := keysPage{Name: strings.TrimSpace(v.PostForm.Get("name")), Limit: strings.TrimSpace(v.PostForm.Get("limit"))}
	token, err := p.newKey(v, k)
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
func (p *pages) newKey(v *visit, k keysPage) (token string, err error) {
	var limit int64
	if k.Limit != "" {
		if limit, err = strconv.ParseInt(k.Limit, 10, 64); err != nil || limit < 1 {
			return "", &failure.Error{Code: failure.Invalid, Message: "limit must be a whole number from 1, or nothing for any number of requests"}
		}
	}
	if err := p.service.Allow(v.Context(), v.caller(), lipsync.GenerateCall); err != nil {
		return "", err
	}
	token, _, err = p.service.CreateKey(v.Context(), v.session.Account, k.Name, limit)
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
	if i < 0 || !keys[i].RevokedAt.IsZero() {
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
