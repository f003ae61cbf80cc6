package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
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

// TestTimeline shows where no mouth is synced, and which sounds the lips miss.
func TestTimeline(t *testing.T) {
	r := lipsync.Request{Length: 10 * time.Second, Frames: order.Frames{Total: 250, Synced: 200}}
	r.Unsynced = order.Unsynced{Gaps: []order.Gap{{Start: 2, End: 3, Reason: order.TurnedAway}, {Start: 9, End: 10, Reason: "new"}}}
	r.Sync.Vowels.Missed, r.Sync.Closures.Missed = []float64{5}, []float64{1}
	l := newTimeline(r)
	if len(l.Synced) != 2 || l.Synced[0] != (spot{X: 0, Width: 200}) || l.Synced[1] != (spot{X: 300, Width: 600}) {
		t.Errorf("synced: got %+v", l.Synced)
	}
	if len(l.Gaps) != 2 || l.Gaps[0] != (spot{200, 100, "2.0–3.0 s, the face is turned away or covered"}) || l.Gaps[1].Says != "9.0–10.0 s, new" {
		t.Errorf("gaps: got %+v", l.Gaps)
	}
	if len(l.Missed) != 2 || l.Missed[0].X != 100 || l.Missed[1] != (spot{500, 0, "5.0 s: the lips stay shut in an open vowel"}) {
		t.Errorf("missed: got %+v", l.Missed)
	}
	if l = newTimeline(lipsync.Request{Length: time.Second}); len(l.Synced) != 1 || l.Says != "The lips follow the speech in the whole output." {
		t.Errorf("without gaps: got %+v", l)
	}
	if l = newTimeline(lipsync.Request{}); l.Synced != nil {
		t.Errorf("without a length: got %+v", l)
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
