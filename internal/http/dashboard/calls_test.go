package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// TestCalls shows calls of the account with the names of their keys, page by page, and none of another account.
func TestCalls(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.get(t, "/dashboard/calls").must(t, http.StatusOK, "No call of the last day")
	c := f.caller(t, account)
	for i := range 30 {
		f.service.NoteCall(t.Context(), account, lipsync.Call{At: f.clock.Now(), ID: fmt.Sprintf("call-%d-", i), Method: "POST", Route: "/api/v1/<b>", Status: 402, Code: failure.TokenLimit, KeyID: c.KeyID})
	}
	f.service.NoteCall(t.Context(), account, lipsync.Call{At: f.clock.Now(), ID: "polled", Method: "GET", Route: "/", Status: 200, KeyID: c.KeyID})
	f.service.NoteCall(t.Context(), account, lipsync.Call{At: f.clock.Now(), ID: "limited", Method: "POST", Route: "/", Status: 429, Code: failure.RateLimited, KeyID: c.KeyID})
	f.service.NoteCall(t.Context(), "other", lipsync.Call{At: f.clock.Now(), ID: "foreign", Method: "POST", Route: "/", Status: 200})
	first := f.get(t, "/dashboard/calls")
	first.must(t, http.StatusOK, "call-29-", "call-5-", "402", string(failure.TokenLimit), c.KeyName, "/api/v1/&lt;b&gt;", "1–25 of 30", `href="?offset=25"`)
	f.get(t, "/dashboard/calls?offset=25").must(t, http.StatusOK, "call-4-", "call-0-", "26–30 of 30")
	f.get(t, "/dashboard/calls?offset=75").must(t, http.StatusOK, "There are no older calls.")
	for _, hidden := range []string{"polled", "limited", "foreign"} {
		if strings.Contains(first.body, hidden) {
			t.Errorf("the page has the call %s", hidden)
		}
	}
	f.get(t, "/dashboard/usage").must(t, http.StatusOK, `href="/dashboard/calls"`)
}
