package site

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/test/browsertest"
)

var screens = flag.String("screens", "", "folder to write pictures of pages to")

// TestSearchInBrowser types a query: each letter shows what is found, and the page comes back without one. Without a script the form shows the
// same. Code is copied by a button.
func TestSearchInBrowser(t *testing.T) {
	server, b := newServer(t), browsertest.New(t)
	b.Open(server.URL + "/docs/webhooks")
	title := browsertest.Eval[string](b, `document.querySelector("h1").textContent`)
	if !browsertest.Eval[bool](b, `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true })), document.activeElement.matches("[data-find]")`) {
		t.Error("the key / doesn't lead to the search")
	}
	b.Do(chromedp.SendKeys("[data-find]", "restor"))
	b.Wait(`document.querySelector("#found h1")?.textContent === "Results for “restor”" && document.querySelector("#found mark")`)
	b.Do(chromedp.SendKeys("[data-find]", "\b\b\b\b\b\b"))
	b.Wait(`!document.querySelector("#found h1") && document.querySelector("h1").textContent === ` + fmt.Sprintf("%q", title))
	b.Do(chromedp.SendKeys("[data-find]", "restore backup\n"))
	b.Wait(`location.pathname === "/docs/search" && document.querySelectorAll(".found li").length > 1`)
	b.Do(chromedp.Click(".found a"))
	b.Wait(`location.pathname !== "/docs/search" && document.querySelector("article")`)
	b.Open(server.URL + "/docs/README")
	b.Do(chromedp.Click("[data-copy]"))
	b.Wait(`document.querySelector("[data-copy]").textContent === "Copied" || String(getSelection()).includes("make demo")`)
}

// TestScreens looks at pages of each form in both widths and both schemes of colours, each once.
func TestScreens(t *testing.T) {
	lookAtAll(t, browsertest.Window{Width: 390, Scheme: "light"}, browsertest.Window{Width: 1280, Scheme: "dark"})
}

// TestScreens_long looks at them in the other pairs of width and scheme.
func TestScreens_long(t *testing.T) {
	lookAtAll(t, browsertest.Window{Width: 390, Scheme: "dark"}, browsertest.Window{Width: 1280, Scheme: "light"})
}

// lookAtAll checks that no page is wider than its window, and that people with disabilities can use the pages.
func lookAtAll(t *testing.T, windows ...browsertest.Window) {
	t.Helper()
	server, b := newServer(t), browsertest.New(t)
	for _, w := range windows {
		b.Look(w.Width, w.Scheme)
		for name, path := range map[string]string{
			"index": "/", "code": "/webhooks", "tables": "/settings", "pictures": "/engine", "figures": "/measurements/quality.txt", "found": "/search?q=webhook", "missing": "/x",
		} {
			b.Open(server.URL + Root + path)
			b.Inspect(name, w, *screens)
		}
	}
}
