package dashboard

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lipsync/internal/test/browsertest"
)

// TestDragSegmentsInBrowser moves segments and their edges by a mouse, by a finger and by keys, on a narrow and a wide window. They never
// overlap, and stay within the video.
func TestDragSegmentsInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.Click(".panel summary"))
	const block, start, end = `.timeline button[aria-pressed=true]`, "[data-start-edge]", "[data-end-edge]"
	for _, width := range []int64{390, 1280} {
		b.Look(width, "light")
		for _, touch := range []bool{false, true} {
			set(b, "[name=segments]", `[{"start":1,"end":3},{"start":6,"end":8}]`)
			b.Wait(blocks("1–3 s", "6–8 s"))
			b.Do(chromedp.Click(".timeline button:nth-child(1)"))
			b.Wait(blocks("1–3 s pressed", "6–8 s") + ` && !document.querySelector("` + end + `").hidden`)

			drag(b, end, 1, touch)
			b.Wait(near(1, 4, 6, 8))
			drag(b, start, -.5, touch)
			b.Wait(near(.5, 4, 6, 8))
			drag(b, block, 1, touch)
			b.Wait(near(1.5, 5, 6, 8))
			drag(b, end, 4, touch) // up to the next segment
			b.Wait(near(1.5, 6, 6, 8))
			drag(b, start, 9, touch) // a tenth of a second remains
			b.Wait(near(5.9, 6, 6, 8))
			drag(b, ".timeline button:nth-child(2)", 4, touch) // up to the end of the video
			b.Wait(near(5.9, 6, 8, 10) + ` && document.querySelectorAll(".timeline button")[1].matches("[aria-pressed=true]")`)
			if got := browsertest.Eval[string](b, `document.querySelector("[data-of=start]").value + " " + document.querySelector("[data-of=end]").value`); got != "8 10" {
				t.Errorf("the inputs of the dragged segment have %s, want 8 10", got)
			}
		}
	}
	set(b, "[name=segments]", `[{"start":1,"end":3},{"start":6,"end":8}]`)
	b.Do(chromedp.Focus(".timeline button:nth-child(1)"), chromedp.KeyEvent(kb.ArrowRight))
	b.Wait(blocks("1.1–3.1 s pressed", "6–8 s"))
	b.Do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.Wait(blocks("0.1–2.1 s pressed", "6–8 s"))
	b.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab)) // past the other segment
	b.Wait(`document.activeElement.matches("` + start + `")`)
	b.Do(chromedp.KeyEvent(kb.Home))
	b.Wait(blocks("0–2.1 s pressed", "6–8 s"))
	b.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.ArrowLeft))
	b.Wait(blocks("0–2 s pressed", "6–8 s"))
	b.Do(chromedp.KeyEvent(kb.End))
	b.Wait(blocks("0–6 s pressed", "6–8 s"))
	if got := browsertest.Eval[string](b, `["min", "now", "max", "text"].map((name) => document.activeElement.getAttribute("aria-value" + name)).join()`); got != "0.1,6,6,6 s" {
		t.Errorf("the end of the segment says %s", got)
	}
	b.Wait(`document.querySelector("[name=segments]").value.replaceAll("\n", "") === '[{"start":0,"end":6},{"start":6,"end":8}]'`)
}

// near returns an expression that is true if the field of the segments has these starts and ends, within the time of two pixels.
func near(times ...float64) string {
	return fmt.Sprintf(`(() => {
		const got = JSON.parse(document.querySelector("[name=segments]").value).flatMap((s) => [s.start, s.end]), want = [%s];
		const most = 20 / document.querySelector(".timeline").clientWidth;
		return got.length === want.length && got.every((t, i) => Math.abs(t - want[i]) <= most);
	})()`, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(times)), ","), "[]"))
}

// drag moves a finger or a mouse from the middle of an element along the timeline, by a time in seconds.
func drag(b *browsertest.Browser, selector string, seconds float64, touch bool) {
	at := browsertest.Eval[[]float64](b, fmt.Sprintf(`(() => {
		const element = document.querySelector(%q);
		element.scrollIntoView({ block: "center", behavior: "instant" });
		const box = element.getBoundingClientRect();
		return [box.left + box.width / 2, box.top + box.height / 2, document.querySelector(".timeline").clientWidth / 10];
	})()`, selector))
	const steps = 8
	for i := range steps + 2 {
		x := at[0] + seconds*at[2]*float64(min(i, steps))/steps
		x = math.Round(x) // events have whole pixels
		if !touch {
			kind := input.DispatchMouseEventTypeMouseMoved
			switch i {
			case 0:
				kind = input.DispatchMouseEventTypeMousePressed
			case steps + 1:
				kind = input.DispatchMouseEventTypeMouseReleased
			}
			b.Do(chromedp.MouseEvent(kind, x, at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
			continue
		}
		e := input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchMove, TouchPoints: []*input.TouchPoint{{X: x, Y: at[1]}}}
		switch i {
		case 0:
			e.Type = input.DispatchTouchEventTypeTouchStart
		case steps + 1:
			e.Type, e.TouchPoints = input.DispatchTouchEventTypeTouchEnd, []*input.TouchPoint{}
		}
		b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, input.DispatchTouchEvent, e)
			return err
		}))
	}
}
