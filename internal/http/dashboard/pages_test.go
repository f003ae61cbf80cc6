package dashboard

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

func document(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../rest/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// everyPage has the paths of all pages, except for that of a request.
var everyPage = []string{"/dashboard", "/dashboard/new", "/dashboard/usage", "/dashboard/calls", "/dashboard/batches", "/dashboard/webhooks", "/dashboard/api", "/dashboard/api/lip-sync", "/dashboard/api/uploads", "/dashboard/api/account", "/dashboard/api/service", "/dashboard/api/batches", "/dashboard/api/deletion", "/dashboard/api/webhooks", "/dashboard/api/estimates", "/dashboard/api/first-call", "/dashboard/settings/keys", "/dashboard/settings/people"}

var (
	loads  = regexp.MustCompile(`(?:src|href)="(/dashboard/static/[^"]+)"`)
	inline = regexp.MustCompile(`(?i)<style|<script>|\sstyle=|\son[a-z]+=|javascript:`)
)

// packed returns the number of bytes that a browser gets for a file, which may be packed.
func (f *fixture) packed(t *testing.T, path string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip") // so that the client doesn't unpack
	response, err := f.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	if err != nil || response.StatusCode != http.StatusOK || n > 1000 && (response.Header.Get("Content-Encoding") == "gzip") == strings.HasSuffix(path, ".woff2") {
		t.Errorf("%s: %d, packed by %q, %v", path, response.StatusCode, response.Header.Get("Content-Encoding"), err)
	}
	return int(n)
}

// wantPage checks the parts that all pages have in common.
func (f *fixture) wantPage(t *testing.T, path string) {
	t.Helper()
	got := f.get(t, path)
	for name, want := range map[string]string{
		"Content-Security-Policy": newPolicy(nil, nil), "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "same-origin", "Cache-Control": "no-store", "Content-Type": "text/html; charset=utf-8",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %s: got %q, want %q", path, name, got.header.Get(name), want)
		}
	}
	if found := inline.FindString(got.body); found != "" {
		t.Errorf("%s: %q is inline", path, found)
	}
	weight, font, files := len(got.body), 0, map[string]bool{}
	for _, found := range loads.FindAllStringSubmatch(got.body, -1) {
		if files[found[1]] {
			continue
		}
		files[found[1]] = true
		if n := f.packed(t, found[1]); strings.HasSuffix(found[1], ".woff2") {
			font += n
		} else {
			weight += n
		}
	}
	if len(files) != 4 || weight > 60_000 || font > 40_000 {
		t.Errorf("%s: %d bytes and a font of %d in %v, want at most 60000 in a page, a style sheet, a script and an icon, and 40000 in the font", path, weight, font, files)
	}
}

func TestEscapedText(t *testing.T) {
	if got, want := text(`{"a": '<b>&'}`), template.HTML(`{"a": '&lt;b&gt;&amp;'}`); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEveryPage(t *testing.T) {
	f := newFixture(t)
	f.wantPage(t, "/dashboard/sign-in")
	f.signIn(t)
	for _, path := range append(everyPage, "/dashboard/signed-out", "/dashboard/nowhere", "/dashboard/requests/unknown") {
		f.wantPage(t, path)
	}
	f.get(t, "/dashboard/nowhere").must(t, http.StatusNotFound, "Not found", "Sign out", "/dashboard/usage")
	f.get(t, "/dashboard/").mustLead(t, "/dashboard")
	f.get(t, "/dashboard/settings").mustLead(t, "/dashboard/settings/keys")
	for _, got := range []answer{
		f.do(t, http.MethodPost, "/dashboard", nil), f.do(t, http.MethodDelete, "/dashboard/new", nil), f.get(t, "/dashboard//new"),
	} {
		if got.status == http.StatusOK || got.header.Get("Content-Security-Policy") != newPolicy(nil, nil) {
			t.Errorf("got %d with the headers %v", got.status, got.header)
		}
	}
}

func TestKeys(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.get(t, "/dashboard/settings/keys").must(t, http.StatusOK, "There is no key yet")
	made := f.send(t, "/dashboard/settings/keys", url.Values{"name": {"Website"}, "limit": {"3"}})
	made.must(t, http.StatusOK, "Website", "0 of 3", "never", "curl -H", f.URL+"/api/v1/users/me")
	token := regexp.MustCompile(`lipsync_[\w-]{43}`).FindString(made.body)
	caller, err := f.service.Authenticate(t.Context(), token)
	if err != nil || caller.Account != account || caller.KeyName != "Website" {
		t.Fatalf("got %+v, %v", caller, err)
	}
	f.service.Limits.Keys = 1
	f.send(t, "/dashboard/settings/keys", url.Values{"name": {"Second"}}).must(t, http.StatusTooManyRequests, "account has as many active keys as it may have, 1", "Second")
	list := f.get(t, "/dashboard/settings/keys")
	if strings.Contains(list.body, token) {
		t.Error("the key is shown a second time")
	}
	question := "/dashboard/settings/keys/" + caller.KeyID + "/revoke"
	list.must(t, http.StatusOK, question)
	f.get(t, question).must(t, http.StatusOK, "Website")
	f.send(t, question, nil).mustLead(t, "/dashboard/settings/keys")
	if _, err := f.service.Authenticate(t.Context(), token); err == nil {
		t.Error("the key is good after it was revoked")
	}
	f.get(t, question).must(t, http.StatusNotFound)
	f.get(t, "/dashboard/settings/keys").must(t, http.StatusOK, "Revoked")
	f.Close() // a call is logged after it was answered
	if said := f.log.String(); strings.Contains(said, token) || !strings.Contains(said, "POST /dashboard/settings/keys") {
		t.Errorf("the key is in the log, or nothing is: %s", said)
	}
}

// TestBoundKeys makes a key that expires and only reads. The page shows both, and when it has expired.
func TestBoundKeys(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	const path = "/dashboard/settings/keys"
	f.send(t, path, url.Values{"name": {"Reports"}, "days": {"30"}, "read_only": {"1"}}).must(t, http.StatusOK, "Reports", "31 Mar 2026", "reads only")
	keys, err := f.service.Keys(t.Context(), account)
	if err != nil || len(keys) != 1 || !keys[0].ReadOnly || !keys[0].ExpiresAt.Equal(lipsync.StoredTime(f.clock.Now().AddDate(0, 0, 30))) {
		t.Fatalf("got %+v, %v, want one that only reads and expires in 30 days", keys, err)
	}
	question := path + "/" + keys[0].ID + "/revoke"
	f.get(t, path).must(t, http.StatusOK, question)
	f.clock.Advance(31 * 24 * time.Hour)
	f.signIn(t)
	list := f.get(t, path)
	list.must(t, http.StatusOK, ">Expired<")
	if strings.Contains(list.body, question) {
		t.Error("a key that has expired can be revoked")
	}
	f.get(t, question).must(t, http.StatusNotFound)
	refused := f.send(t, path, url.Values{"name": {"x"}, "days": {"4000"}, "read_only": {"1"}})
	refused.must(t, http.StatusBadRequest, "days must be a whole number from 1 to 3650", `value="4000"`, "checked")
}

func TestBadKeys(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	for _, form := range []url.Values{{}, {"name": {" "}}, {"name": {strings.Repeat("x", 256)}}, {"name": {"x"}, "limit": {"0"}},
		{"name": {"x"}, "limit": {"-1"}}, {"name": {"x"}, "limit": {"many"}}, {"name": {"x"}, "limit": {"9223372036854775808"}},
		{"name": {"x"}, "days": {"0"}}, {"name": {"x"}, "days": {"1.5"}}, {"name": {"x"}, "days": {"9223372036854775808"}}} {
		f.send(t, "/dashboard/settings/keys", form).must(t, http.StatusBadRequest, `role="alert"`)
	}
	f.send(t, "/dashboard/settings/keys", url.Values{"name": {strings.Repeat("x", maxBody)}}).must(t, http.StatusRequestEntityTooLarge)
	if keys, _ := f.service.Store.Keys.List(t.Context(), ""); len(keys) != 0 {
		t.Errorf("got %d keys, want none", len(keys))
	}
}

// TestKeysRate makes keys until the account has no call left: each has a rate of its own.
func TestKeysRate(t *testing.T) {
	f := newFixture(t)
	f.service.GenerateRate = 2
	f.signIn(t)
	for _, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		f.send(t, "/dashboard/settings/keys", url.Values{"name": {"x"}}).must(t, want)
	}
	if keys, err := f.service.Store.Keys.List(t.Context(), account); err != nil || len(keys) != 2 {
		t.Errorf("got %d keys (%v), want 2", len(keys), err)
	}
}

// TestManyKeys pages through many keys. All on one page would be too much for phones.
func TestManyKeys(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	for i := range 130 {
		if _, _, err := f.service.CreateKey(t.Context(), account, fmt.Sprintf("key %03d, %s", i, strings.Repeat("x", 60)), 0); err != nil {
			t.Fatal(err)
		}
	}
	const path = "/dashboard/settings/keys"
	f.wantPage(t, path)
	f.get(t, path).must(t, http.StatusOK, "key 129", "key 105", "1–25 of 130", "?offset=25")
	f.get(t, path+"?offset=125").must(t, http.StatusOK, "key 004", "key 000", "126–130 of 130", "?offset=100")
	f.get(t, path+"?offset=9223372036854775807").must(t, http.StatusOK, ">Newest</a>")
}

// TestOthersKeys tries to see and to revoke another account's key.
func TestOthersKeys(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c := f.caller(t, "other")
	path := "/dashboard/settings/keys/" + c.KeyID + "/revoke"
	f.get(t, path).must(t, http.StatusNotFound)
	f.send(t, path, nil).must(t, http.StatusNotFound)
	if keys, _ := f.service.Store.Keys.List(t.Context(), "other"); !keys[0].RevokedAt.IsZero() {
		t.Error("the key was revoked")
	}
}

// TestFileNames lists requests whose inputs have two file names, one or none.
func TestFileNames(t *testing.T) {
	for _, c := range []struct{ video, audio, want string }{
		{"https://example.com/v.mp4", "https://example.com/a.wav", "v.mp4 with a.wav"},
		{"https://example.com/v.mp4", "https://example.com", "v.mp4"},
		{"https://example.com", "https://example.com/a.wav", "a.wav"},
		{"https://example.com", "https://example.com", "Request "},
	} {
		f := newFixture(t)
		f.signIn(t)
		f.send(t, "/dashboard/new", url.Values{"video": {c.video}, "audio": {c.audio}}).must(t, http.StatusSeeOther)
		if got := between(between(f.get(t, "/dashboard").body, `<td class="name">`, "</a>"), `">`, "?"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s and %s: got %q, want %q", c.video, c.audio, got, c.want)
		}
	}
}

// TestFilters pages through 500 requests, and filters them.
func TestFilters(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	c, other := f.caller(t, account), f.caller(t, "other")
	for i := range 500 {
		id := f.add(t, c, fmt.Sprintf("order-%d", i))
		if i%100 == 7 {
			f.fail(t, id, noFace)
		}
	}
	f.add(t, other, "secret")
	first := f.get(t, "/dashboard")
	first.must(t, http.StatusOK, "order-499", "1–25 of 500", `data-live`)
	for reference, want := range map[string]int{"order-7": 1, "order-": 0, "secret": 0} {
		page := f.get(t, "/dashboard?reference_id="+reference)
		if got := strings.Count(page.body, `class="name"`); got != want {
			t.Errorf("%s: got %d, want %d", reference, got, want)
		}
	}
	first.must(t, http.StatusOK, `href="?status=failed">failed <b>5</b>`, `href="?status=queued">queued <b>99&#43;</b>`)
	for query, want := range map[string]int{"q=ORDER-49": 10, "q=rder-4&status=failed": 1, "q=v.mp4&status=failed": 5, "q=nothing": 0} {
		found := f.get(t, "/dashboard?"+query)
		if got := strings.Count(found.body, `class="name"`); found.status != http.StatusOK || got != want {
			t.Errorf("%s: got %d rows, want %d", query, got, want)
		}
	}
	f.get(t, "/dashboard?q=+order-7+&status=failed").mustLead(t, "/dashboard?reference_id=order-7&status=failed")
	one, err := f.service.Details(t.Context(), c, "order-7")
	if err != nil {
		t.Fatal(err)
	}
	f.get(t, "/dashboard?q="+one.ID).mustLead(t, "/dashboard/requests/"+one.ID)
	failed := f.get(t, "/dashboard?status=failed")
	failed.must(t, http.StatusOK, "order-407", "order-7", "no face found in the video")
	if got := strings.Count(failed.body, `class="name"`); got != 5 {
		t.Errorf("failed: got %d, want 5", got)
	}
	if got := len(f.allPages(t, "/dashboard")); got != 500 {
		t.Errorf("by pages: got %d requests, want 500", got)
	}
	if got := len(f.allPages(t, "/dashboard?status=queued")); got != 495 {
		t.Errorf("queued by pages: got %d requests, want 495", got)
	}
	for _, path := range []string{"/dashboard?offset=600", "/dashboard?offset=600&reference_id=x"} {
		beyond := f.get(t, path)
		beyond.must(t, http.StatusOK, `class="empty"`, `>Newest</a>`)
		if strings.Contains(beyond.body, "601") || strings.Contains(beyond.body, "offset=") {
			t.Errorf("%s: it numbers what isn't there, or leads to it: %s", path, beyond.body)
		}
	}
	f.get(t, "/dashboard?status=%22%3E&offset=x&reference_id=%00").must(t, http.StatusOK)
}

// TestPlaces shows as many requests as a page has, without a link to older ones, from the newest place, and also from a text that is no place in this store.
func TestPlaces(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	for i := range pageSize {
		f.add(t, f.caller(t, account), fmt.Sprintf("order-%d", i))
	}
	for place, want := range map[string]int{"": 25, "11": 10, "x": 25, "00001800000000000000/0190d5c8-0000-7000-8000-000000000000": 25} {
		page := f.get(t, "/dashboard?status=queued&place="+url.QueryEscape(place))
		page.must(t, http.StatusOK)
		if got := strings.Count(page.body, `class="name"`); got != want || strings.Contains(page.body, `rel="next"`) || strings.Contains(page.body, ">Newest<") != (place == "11") {
			t.Errorf("from %q: got %d requests, or links of another page, want %d: %s", place, got, want, page.body)
		}
	}
}

// unsigned is a store of objects that can't sign addresses.
type unsigned struct{ lipsync.Objects }

func (unsigned) SignGet(context.Context, string, string, time.Time) (*url.URL, error) {
	return nil, errors.New("signed")
}

// TestUnsigned lists requests with outputs while no addresses can be signed.
func TestUnsigned(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.complete(t, f.add(t, f.caller(t, account), "done"))
	f.service.Objects = unsigned{f.service.Objects}
	for _, query := range []string{"", "?reference_id=done", "?status=completed"} {
		f.get(t, "/dashboard"+query).must(t, http.StatusOK, ">done</a>")
	}
}

// allPages follows a list to its end, and returns the links in it.
func (f *fixture) allPages(t testing.TB, path string) map[string]bool {
	t.Helper()
	links := regexp.MustCompile(`href="(/dashboard/requests/[^"]+)"`)
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	all := map[string]bool{}
	for {
		page := f.get(t, path)
		for _, found := range links.FindAllStringSubmatch(page.body, -1) {
			all[found[1]] = true
		}
		older := next.FindStringSubmatch(page.body)
		if older == nil {
			return all
		}
		path = "/dashboard" + strings.ReplaceAll(older[1], "&amp;", "&")
	}
}

// TestUsage makes known requests, and checks the sums of a day.
func TestUsage(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.get(t, "/dashboard/usage").must(t, http.StatusOK, "Nothing in the last 30 days")
	c := f.caller(t, account)
	for range 3 {
		f.complete(t, f.add(t, c, "")) // outputs of 12.7, 13.4 and 14.1 s
	}
	f.clock.Advance(24 * time.Hour)
	f.fail(t, f.add(t, c, ""), noFace)
	f.add(t, f.caller(t, "other"), "")
	f.signIn(t)
	f.get(t, "/dashboard/usage").must(t, http.StatusOK,
		"<dd>4</dd>", "<dd>0.7</dd>", "<dd>1</dd>", "Mon 2 Mar 2026: 1 requests, 1 failed, 0.0 min", "Sun 1 Mar 2026: 3 requests, 0 failed, 0.7 min")
	f.clock.Advance(30 * 24 * time.Hour)
	f.signIn(t)
	f.get(t, "/dashboard/usage").must(t, http.StatusOK, "Nothing in the last 30 days")
}

// TestUsageAtMidnight lets time pass while a page is made, in some cases past midnight. Each page shows
// the request on the day it was made.
func TestUsageAtMidnight(t *testing.T) {
	f := newFixture(t)
	f.add(t, f.caller(t, account), "")
	var passes atomic.Int64 // time that passes at each call of Now
	f.service.Now = func() time.Time {
		f.clock.Advance(time.Duration(passes.Load()))
		return f.clock.Now()
	}
	for range 24 {
		passes.Store(0)
		f.signIn(t)
		passes.Store(int64(170 * time.Minute))
		f.get(t, "/dashboard/usage").must(t, http.StatusOK, "Sun 1 Mar 2026: 1 requests")
	}
}
