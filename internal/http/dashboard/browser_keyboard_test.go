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
	k := browsertest.Keyboard{Browser: b}
	k.To("a.primary[href$='/new']")
	k.Press(kb.Enter)
	b.WaitText("h1", "New request")
	for _, name := range []string{"video", "audio"} {
		k.To("input[name=" + name + "]")
		b.Do(chromedp.KeyEvent("https://example.com/" + name))
	}
	k.To("[data-add-segment]")
	k.Press(kb.Enter)
	b.Wait(blocks("0–4 s pressed"))
	k.To("[data-end-edge]")
	k.Press(kb.ArrowRight)
	b.Wait(blocks("0–4.1 s pressed"))
	k.To("[data-of=original_gain]")
	b.Do(chromedp.KeyEvent("\b.5"))
	k.To("[data-start]")
	k.Press(kb.Enter)
	b.Wait(`document.querySelector(".facts code")`)
	made := f.made(t)
	if want := `{"segments":[{"start":0,"end":4.1,"options":{"original_gain":0.5}}]}`; len(made) != 1 || made[0].Options.Text() != want {
		t.Errorf("got %s, want %s", made[0].Options.Text(), want)
	}
	t.Logf("%d keys, without those of the addresses", k.Pressed)
	if k.Pressed > 60 {
		t.Errorf("%d keys were pressed, want at most 60", k.Pressed)
	}
}
