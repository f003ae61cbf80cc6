package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
)

// FuzzForms sends forms of a person who is signed in. Each gets a page or an answer for scripts, and none
// is an error of the service. No page has the content of a form unescaped. Webhooks are deleted again, since an account
// may have few.
func FuzzForms(f *testing.F) {
	for _, form := range []string{
		"video=http://a.example/v&audio=http://a.example/a&reference_id=r&model=warp&largest_face=on", "video=http://a.example/v&audio=http://a.example/a&voice_gain=.5&original_gain=1e-3&duck=true&preview=1,2&face=1,2,3&mask=.5,1.2", "video=<script>x</script>&audio=%00",
		`video=http://a.example/v&audio=http://a.example/a&more_ref=b&more_ref=<script>x&more_audio=http://a.example/b&segments=[{"start":0,"end":1},{"start":1,"end":2,"audio":{"ref":"b"}}]`, "segments=</textarea><script>x&more_ref=%ff", "name=n&limit=1",
		"name=%3Cscript%3Ex&limit=-1", "type=video&size=9223372036854775808", "type=%ff&size=1e3", "once&video=http://%zz&audio=upload://x", "%zz", "&&=;",
		"url=https://example.com/<script>x&events=lipsync.completed&events=lipsync.failed", "url=%20https://example.com/a%3Fb%23c&events=<script>x", "url=https://[::1%2525x]/&events=lipsync.failed&events=lipsync.failed",
	} {
		f.Add(form)
	}
	fx := newFixture(f)
	call := fx.fuzzCaller(f)
	csrf, caller := fx.csrf(f), lipsync.Caller{Account: account}
	f.Fuzz(func(t *testing.T, form string) {
		for _, path := range []string{"/dashboard/new", "/dashboard/settings/keys", "/dashboard/uploads", "/dashboard/analyses", "/dashboard/estimates", "/dashboard/webhooks"} {
			r := httptest.NewRequest(http.MethodPost, fx.URL+path, strings.NewReader("csrf="+url.QueryEscape(csrf)+"&"+form))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w, log := call(r)
			if w.Code < 200 || w.Code >= 500 || strings.Contains(w.Body.String(), "<script>x") {
				t.Errorf("%s %q: got %d %.200s, log %s", path, form, w.Code, w.Body, log)
			}
		}
		made, err := fx.service.Webhooks(t.Context(), caller)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range made {
			if _, err := fx.service.DeleteWebhook(t.Context(), caller, w.ID); err != nil {
				t.Errorf("%q: its webhook can't be deleted: %v", form, err)
			}
		}
	})
}
