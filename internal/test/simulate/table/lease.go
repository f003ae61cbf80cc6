package table

import "time"

// Holds reports whether the token has the lease of the request. It replaces the store's most
// frequent calls, to save time, and is counted like them: as a read of the request's items, or as
// a write of its lease.
func (t *Table) Holds(id, token string, writes bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.lookup("request/"+id, "lease")
	if r == nil || text(r.item["token"]) != token {
		return false
	}
	if writes {
		t.called("UpdateItem")
		t.whole.fits(t.Limits, time.Now().Unix(), 1)
		t.whole.add(1)
		t.count.WriteUnits++
	} else {
		t.called("Query")
		t.count.ReadUnits++
	}
	return true
}
