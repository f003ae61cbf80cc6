package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzForms sends forms of a person who is signed in. Each gets a page or an answer for scripts, and none
// is an error of the service. No page has the content of a form unescaped.
func FuzzForms(f *testing.F) {
	for _, form := range []string{
		"video=http://a.example/v&audio=http://a.example/a&reference_id=r&model=warp&largest_face=on", "video=http://a.example/v&audio=http://a.example/a&voice_gain=.5&original_gain=1e-3&duck=true&preview=1,2&face=1,2,3&mask=.5,1.2", "video=<script>x</script>&audio=%00",
		`video=http://a.example/v&audio=http://a.example/a&more_ref=b&more_ref=<script>x&more_audio=http://a.example/b&segments=[{"start":0,"end":1},{"start":1,"end":2,"audio":{"ref":"b"}}]`, "segments=</textarea><script>x&more_ref=%ff", "name=n&limit=1",
		"name=%3Cscript%3Ex&limit=-1", "type=video&size=9223372036854775808", "type=%ff&size=1e3", "once&video=http://%zz&audio=upload://x", "%zz", "&&=;",
	} {
		f.Add(form)
	}
	fx := newFixture(f)
	call := fx.fuzzCaller(f)
	csrf := fx.csrf(f)
	f.Fuzz(func(t *testing.T, form string) {
		for _, path := range []string{"/dashboard/new", "/dashboard/settings/keys", "/dashboard/uploads", "/dashboard/analyses"} {
			r := httptest.NewRequest(http.MethodPost, fx.URL+path, strings.NewReader("csrf="+url.QueryEscape(csrf)+"&"+form))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w, log := call(r)
			if w.Code < 200 || w.Code >= 500 || strings.Contains(w.Body.String(), "<script>x") {
				t.Errorf("%s %q: got %d %.200s, log %s", path, form, w.Code, w.Body, log)
			}
		}
	})
}
