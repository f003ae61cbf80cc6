package dashboard

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"lipsync/internal/dashboard/browsertest"
	"lipsync/internal/lipsync"
)

var screens = flag.String("screens", "", "folder to write pictures of all pages to")

// TestScreens takes pictures of all pages, for people to look at, and makes sure
// that none is wider than its window, or hard to use for some people: by axe-core,
// if LIPSYNC_AXE is the path of its script.
func TestScreens(t *testing.T) {
	h := newHome(t)
	paths := h.seed(t)
	b := browsertest.New(t)
	b.Open(h.URL + h.newLink(t))
	axe := readAxe(t)
	look := func(name string, width int64, scheme string) {
		t.Helper()
		if browsertest.Eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("%s is wider than %d pixels", name, width)
		}
		if axe != "" {
			for _, problem := range problems(b, axe) {
				t.Errorf("%s, %d pixels, %s: %s", name, width, scheme, problem)
			}
		}
		if *screens != "" {
			screen(t, b, filepath.Join(*screens, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)))
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			b.Look(width, scheme)
			for name, path := range paths {
				b.Open(h.URL + path)
				look(name, width, scheme)
			}
			b.Open(h.URL + "/dashboard/settings/keys")
			b.Do(chromedp.SendKeys("input[name=name]", "new\n"))
			b.Wait(`document.getElementById("token")`)
			look("new-key", width, scheme)
			b.Open(h.URL + "/dashboard/new")
			b.Do(chromedp.Click(".new summary"), chromedp.Click("[data-start]"))
			b.Wait(`document.querySelector("[data-problem]").textContent`)
			look("new-problem", width, scheme)
		}
	}
}

// readAxe returns the script of axe-core, "" if there is none.
func readAxe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("LIPSYNC_AXE")
	if path == "" {
		t.Log("LIPSYNC_AXE is not set: nothing is checked by axe-core")
		return ""
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// problems are what axe-core finds serious or worse in the page.
func problems(b *browsertest.Browser, axe string) []string {
	return browsertest.Eval[[]string](b, axe+`;
		axe.run({ resultTypes: ["violations"] }).then((found) => found.violations
			.filter((v) => ["serious", "critical"].includes(v.impact))
			.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html)))`)
}

func screen(t *testing.T, b *browsertest.Browser, path string) {
	t.Helper()
	time.Sleep(200 * time.Millisecond) // for pictures and videos
	if err := os.WriteFile(path, b.Picture(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// seed makes something of everything, and returns the pages by name.
func (h *home) seed(t testing.TB) map[string]string {
	t.Helper()
	c := h.caller(t, account)
	pages := map[string]string{"sign-in": "/dashboard/sign-in?token=x", "missing": "/dashboard/x"}
	for i := range 40 {
		h.clock.Advance([]time.Duration{7 * time.Minute, 95 * time.Minute, 31 * time.Hour}[i%3])
		id := h.add(t, c, []string{"", "spring-campaign/hero-de", "order-" + fmt.Sprint(1200+i)}[i%3])
		switch {
		case i%9 == 4:
			h.fail(t, id, "video URL is not accessible")
			pages["failed"] = "/dashboard/requests/" + id
		case i == 38:
			h.start(t, id, lipsync.Progress{Stage: lipsync.Rendering, Percent: 62, Ends: h.clock.Now().Add(41 * time.Second)})
			pages["processing"] = "/dashboard/requests/" + id
		case i == 39:
			pages["queued"] = "/dashboard/requests/" + id
		default:
			h.complete(t, id)
			pages["completed"] = "/dashboard/requests/" + id
		}
	}
	_, k, err := h.service.CreateKey(t.Context(), account, "Website, production", 500)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"requests": "/dashboard", "filtered": "/dashboard?status=failed", "none": "/dashboard?reference_id=nothing", "new": "/dashboard/new",
		"usage": "/dashboard/usage", "api": "/dashboard/api", "keys": "/dashboard/settings/keys", "sessions": "/dashboard/settings/sessions",
		"revoke": "/dashboard/settings/keys/" + k.ID + "/revoke",
	} {
		pages[name] = path
	}
	return pages
}

// start claims a request and reports how far it is.
func (h *home) start(t testing.TB, id string, p lipsync.Progress) lipsync.Request {
	t.Helper()
	r, err := h.service.Claim(t.Context(), id)
	if err == nil {
		err = h.service.Report(t.Context(), r, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// complete makes a request completed, as a worker would.
func (h *home) complete(t testing.TB, id string) {
	t.Helper()
	r := h.start(t, id, lipsync.Progress{})
	r.Length = 12*time.Second + time.Duration(r.Seq)*700*time.Millisecond
	h.clock.Advance(23 * time.Second)
	if err := h.service.Complete(t.Context(), r, strings.NewReader("no video"), -1); err != nil {
		t.Fatal(err)
	}
}
