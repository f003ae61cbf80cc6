package dashboard

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/test/browsertest"
)

// TestTextInBrowser types text that would run as a script, or end its element, into each field for a
// client's text. Each page shows it as text. The test fails if a script runs or the policy refuses
// one: see browsertest.
func TestTextInBrowser(t *testing.T) {
	f := newFixture(t)
	c := f.caller(t, "other")
	c.Account = account
	b := f.signedIn(t)
	for _, evil := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload='alert(1)`, `</title><script>alert(1)</script>`, `javascript:alert(1)`,
	} {
		f.fail(t, f.add(t, c, evil), noCodec(evil))
		b.Open(f.URL + "/dashboard")
		b.Do(chromedp.SendKeys("input[name=q]", evil+"\n"))
		b.Wait(`location.search.includes("reference_id") && document.querySelector("[name=q]").value`)
		wantText(t, b, evil, ".rows .name a", ".rows .error")
		b.Do(chromedp.Click(".rows .name a"))
		wantText(t, b, evil, "h1", "#state h2", ".facts")
		if got := browsertest.Eval[string](b, "document.title"); !strings.HasPrefix(got, evil) {
			t.Errorf("title: got %s, want %s", got, evil)
		}
		b.Open(f.URL + "/dashboard/settings/keys")
		b.Do(chromedp.SendKeys("input[name=name]", evil+"\n"))
		b.Wait(`document.getElementById("token")`)
		wantText(t, b, evil, ".rows .name")
		b.Do(chromedp.Click("a.danger"))
		wantText(t, b, evil, ".lead")
	}
}

// wantText waits until the first element of each selector has the text, and checks that the page has no
// elements besides those of its templates.
func wantText(t *testing.T, b *browsertest.Browser, text string, selectors ...string) {
	t.Helper()
	for _, selector := range selectors {
		b.WaitText(selector, text)
	}
	if got := browsertest.Eval[string](b, `[...document.querySelectorAll("main :is(script, img, svg), a[href^=javascript]")].map((e) => e.outerHTML).join()`); got != "" {
		t.Errorf("%s made %s", text, got)
	}
}
