package dashboard

import (
	"cmp"
	"net/http"
	"slices"

	"lipsync/internal/domain/lipsync"
)

// callsPage is a page of the account's calls of the last day, newest first.
type callsPage struct {
	Calls []notedCall
	Pager pager
}

// notedCall is a call with the name of its key.
type notedCall struct {
	lipsync.Call
	Key string
}

func (p *pages) listCalls(v *visit) error {
	all, err := p.service.Calls(v.Context(), v.caller())
	if err != nil {
		return err
	}
	keys, err := p.service.Keys(v.Context(), v.session.Account)
	if err != nil {
		return err
	}
	f := filter{Offset: readFilter(v.URL.Query()).Offset}
	total := int64(len(all))
	all = all[min(f.Offset, total):]
	page := callsPage{Pager: newPager(f, min(pageSize, len(all)), total)}
	for _, c := range all[:min(pageSize, len(all))] {
		named := notedCall{c, c.KeyID[:min(8, len(c.KeyID))]}
		if i := slices.IndexFunc(keys, func(k lipsync.Key) bool { return k.ID == c.KeyID }); i >= 0 {
			named.Key = cmp.Or(keys[i].Name, named.Key)
		}
		page.Calls = append(page.Calls, named)
	}
	return v.show(http.StatusOK, "calls", "Calls", page)
}
