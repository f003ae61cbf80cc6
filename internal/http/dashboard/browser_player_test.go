package dashboard

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lipsync/internal/test/browsertest"
)

// TestPlayerInBrowser moves through an output by frames, with keys and buttons, and shows it alone, beside the original and wiped over it.
func TestPlayerInBrowser(t *testing.T) {
	f := newFixture(t)
	path := f.play(t)
	b := f.signedIn(t)
	b.Open(f.URL + path)
	b.Wait(`document.querySelector("[data-output]").readyState >= 2 && !document.querySelector("[data-controls]").hidden`)
	clock := func(frame string) { t.Helper(); b.WaitText("[data-controls] output", "frame "+frame) }
	clock("0")
	b.Do(chromedp.Click("[data-step='1']"))
	clock("1")
	b.Do(chromedp.Focus(".line input"), chromedp.KeyEvent(kb.ArrowRight))
	clock("2")
	b.Do(chromedp.KeyEvent(kb.ArrowLeft))
	clock("1")
	b.Do(chromedp.Click("[data-step='-1']"))
	clock("0")
	const shown = `[...document.querySelectorAll(".pair figure")].map((f) => f.checkVisibility()).join()`
	for view, want := range map[string]string{"alone": "false,true", "beside": "true,true"} {
		b.Do(chromedp.Click("[value=" + view + "]"))
		b.Wait(shown + ` === "` + want + `"`)
	}
	b.Do(chromedp.Click("[value=wipe]"))
	b.Wait(`document.querySelector(".pair figure + figure").style.clipPath === "inset(0px 0px 0px 50%)"`)
	b.Do(chromedp.Focus("[data-wipe]"), chromedp.KeyEvent(kb.Home))
	b.Wait(`document.querySelector(".pair figure + figure").style.clipPath === "inset(0px 0px 0px 0%)"`)
	if over := browsertest.Eval[bool](b, `(([a, b]) => a.top === b.top && a.left === b.left && a.height === b.height)([...document.querySelectorAll(".pair video")].map((v) => v.getBoundingClientRect()))`); !over {
		t.Error("the output isn't over the original")
	}
}

// TestNoPlayer shows no player where nothing can play: the source of a failed request is at an address of the client.
func TestNoPlayer(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	id := f.add(t, f.caller(t, account), "")
	f.fail(t, id, noFace)
	if page := f.get(t, "/dashboard/requests/"+id).body; strings.Contains(page, "<video") {
		t.Error("the page of a failed request has a player")
	}
}
