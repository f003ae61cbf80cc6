package dashboard

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lipsync/internal/test/browsertest"
)

// TestKeyboardInBrowser makes a request by keys only, from the list on: it opens the form, types both addresses, adds a segment and moves its
// end, keeps the video's own sound, lowers it under the speech, and starts.
func TestKeyboardInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Look(1280, "light")
	b.Open(f.URL + "/dashboard")
	pressed := 0
	press := func(keys string) {
		t.Helper()
		pressed++
		b.Do(chromedp.KeyEvent(keys))
	}
	// to presses Tab until an element of the selector has the focus, which must be seen.
	to := func(selector string) {
		t.Helper()
		for range 60 {
			press(kb.Tab)
			if browsertest.Eval[bool](b, `document.activeElement.matches("`+selector+`")`) {
				if !browsertest.Eval[bool](b, `document.activeElement.matches(":focus-visible") && document.activeElement.checkVisibility()`) {
					t.Errorf("the focus on %s isn't seen", selector)
				}
				return
			}
		}
		t.Fatalf("no Tab leads to %s", selector)
	}
	to("a.primary[href$='/new']")
	press(kb.Enter)
	b.WaitText("h1", "New request")
	for _, name := range []string{"video", "audio"} {
		to("input[name=" + name + "]")
		b.Do(chromedp.KeyEvent("https://example.com/" + name))
	}
	to("[data-add-segment]")
	press(kb.Enter)
	b.Wait(blocks("0–4 s pressed"))
	to("[data-end-edge]")
	press(kb.ArrowRight)
	b.Wait(blocks("0–4.1 s pressed"))
	to("[data-of=original_gain]")
	b.Do(chromedp.KeyEvent("\b.5"))
	to("[data-start]")
	press(kb.Enter)
	b.Wait(`document.querySelector(".facts code")`)
	made := f.made(t)
	if want := `{"segments":[{"start":0,"end":4.1,"options":{"original_gain":0.5}}]}`; len(made) != 1 || made[0].Options.Text() != want {
		t.Errorf("got %s, want %s", made[0].Options.Text(), want)
	}
	t.Logf("%d keys, without those of the addresses", pressed)
	if pressed > 60 {
		t.Errorf("%d keys were pressed, want at most 60", pressed)
	}
}
