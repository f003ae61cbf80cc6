package dashboard

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/browsertest"
)

// signedIn starts a browser and signs it in.
func (f *fixture) signedIn(t *testing.T) *browsertest.Browser {
	t.Helper()
	b := browsertest.New(t)
	b.SignIn(f.URL+f.newLink(t), "Requests")
	return b
}

// TestLinkInBrowser opens a link in one browser, and then in another.
func TestLinkInBrowser(t *testing.T) {
	f := newFixture(t)
	link := f.URL + f.newLink(t)
	first, second := browsertest.New(t), browsertest.New(t)
	first.SignIn(link, "Requests")
	if got := browsertest.Eval[string](first, "location.pathname + location.search"); got != "/dashboard" {
		t.Errorf("the link leads to %s, want /dashboard", got)
	}
	second.Open(link)
	second.Wait(`document.querySelector("[role=alert]")?.textContent.includes("used already")`)
	if got := second.Status(); got != http.StatusForbidden {
		t.Errorf("second use: got %d, want 403", got)
	}
	second.Open(f.URL + "/dashboard")
	second.Wait(`document.querySelector("h1").textContent === "Sign in" && !document.querySelector("[role=alert]")`)
}

// TestSignOutInBrowser signs out in one of three browsers, and then everywhere.
func TestSignOutInBrowser(t *testing.T) {
	f := newFixture(t)
	f.add(t, f.caller(t, account), "private")
	first, here, there := f.signedIn(t), f.signedIn(t), f.signedIn(t)
	first.Do(chromedp.Click(".me summary"), chromedp.Click(".me button"))
	first.WaitText("h1", "Sign in")
	here.Do(chromedp.Click(".mark"))
	here.WaitText("h1", "Requests")
	here.Do(chromedp.Click(".me summary"), chromedp.Click("[name=everywhere]"))
	here.WaitText("h1", "Sign in")
	browsertest.Eval[bool](here, `window.left = true`)
	here.Back()
	here.Wait(`!window.left && document.querySelector("h1").textContent === "Sign in" && !document.body.innerText.includes("private")`)
	there.Do(chromedp.Click(".mark"))
	there.WaitText("h1", "Sign in")
}

// TestExpiredInBrowser uses a link, a form and a script of open pages after the session's end.
func TestExpiredInBrowser(t *testing.T) {
	f := newFixture(t)
	file := filepath.Join(t.TempDir(), "v.mp4")
	if err := os.WriteFile(file, []byte("a video"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, act := range map[string]func(b *browsertest.Browser){
		"/dashboard/usage": func(b *browsertest.Browser) {
			b.Do(chromedp.Click(".bar nav a"))
			b.WaitText("h1", "Sign in")
		},
		"/dashboard/settings/keys": func(b *browsertest.Browser) {
			b.Do(chromedp.SendKeys("input[name=name]", "late\n"))
			b.Wait(`document.querySelector(".lead")?.textContent.includes("session has ended")`)
		},
		"/dashboard/new": func(b *browsertest.Browser) {
			b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{file}),
				chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{file}), chromedp.Click("[data-start]"))
			b.Wait(`document.querySelector("[data-problem]").textContent.includes("session has ended")`)
		},
	} {
		b := f.signedIn(t)
		b.Open(f.URL + path)
		f.clock.Advance(sessionLife)
		act(b)
	}
	if keys, err := f.service.Store.Keys.List(t.Context(), account); err != nil || len(keys) != 0 {
		t.Errorf("got %d keys (%v), want none", len(keys), err)
	}
}

// TestOthersInBrowser opens the pages of another account's request and key.
func TestOthersInBrowser(t *testing.T) {
	f := newFixture(t)
	other := f.caller(t, "other")
	id := f.add(t, other, "theirs")
	f.complete(t, id)
	b := f.signedIn(t)
	for _, path := range []string{"/requests/" + id, "/requests/theirs", "/settings/keys/" + other.KeyID + "/revoke"} {
		b.Open(f.URL + "/dashboard" + path)
		if got := b.Status(); got != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", path, got)
		}
		b.Wait(`document.querySelector("h1").innerText === "Not found" && !document.querySelector("video")`)
	}
	b.Open(f.URL + "/dashboard")
	b.Wait(`document.body.innerText.includes("No requests yet")`)
}

// TestFormsInBrowser sends every form that a page has without its token.
func TestFormsInBrowser(t *testing.T) {
	fx := newFixture(t)
	fx.seed(t)
	b := fx.signedIn(t)
	forms := fx.forms(b)
	if len(forms) != 16 {
		t.Errorf("got the forms %v, want 16", slices.Sorted(maps.Keys(forms)))
	}
	before := fx.state(t)
	for kind, f := range forms {
		b.Open(fx.URL + f.page)
		browsertest.Eval[bool](b, `(() => {
			const form = document.querySelector("form[action='`+f.action+`']");
			form.elements.csrf.remove();
			form.submit();
			return true;
		})()`)
		b.Wait(`document.querySelector(".lead")?.textContent.includes("out of date")`)
		if got := b.Status(); got != http.StatusForbidden {
			t.Errorf("%s: got %d, want 403", kind, got)
		}
	}
	b.Open(fx.URL + "/dashboard/new")
	if got := browsertest.Eval[int](b, `fetch(document.querySelector("[data-uploads]").dataset.uploads,
		{ method: "POST", body: new URLSearchParams({ type: "video", size: 5 }) }).then((answer) => answer.status)`); got != http.StatusForbidden {
		t.Errorf("uploads: got %d, want 403", got)
	}
	if after := fx.state(t); after != before {
		t.Errorf("got %s, want %s as before", after, before)
	}
}

// form is a form that changes something, and a page with that form.
type form struct{ page, action string }

var ids = regexp.MustCompile(`(requests|batches|keys|webhooks|deliveries)/[^/]+/`)

// forms follows all links and returns one form of each kind.
func (f *fixture) forms(b *browsertest.Browser) map[string]form {
	forms, seen, next := map[string]form{}, map[string]bool{}, []string{"/dashboard"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if seen[page] {
			continue
		}
		seen[page] = true
		found := browsertest.Eval[struct{ Forms, Links []string }](b, `fetch("`+page+`").then((answer) => answer.text()).then((text) => {
			const page = new DOMParser().parseFromString(text, "text/html");
			const all = (selector, name) => [...page.querySelectorAll(selector)].map((e) => e.getAttribute(name));
			return { Forms: all("form[method=post]", "action"), Links: all("a[href^='/dashboard']", "href") };
		})`)
		for _, action := range found.Forms {
			forms[ids.ReplaceAllString(action, "$1/ID/")] = form{page, action}
		}
		next = append(next, found.Links...)
	}
	return forms
}

// state returns a text of all records that forms could change.
func (f *fixture) state(t *testing.T) string {
	t.Helper()
	keys, err := f.service.Store.Keys.List(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	page, err := f.service.RequestPage(t.Context(), lipsync.Caller{Account: account}, service.ListQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	generation, err := f.folder.Generation(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	webhooks, err := f.service.Store.Webhooks.Of(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	batches, err := f.service.Batches(t.Context(), lipsync.Caller{Account: account}, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	people, err := f.folder.People(account)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(keys, page, generation, webhooks, batches, people)
}
