package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/browsertest"
)

// TestSegmentsInBrowser sets two segments on the timeline, of which one has a further audio and a chosen face, and
// starts the request. A person who comes back finds all of it.
func TestSegmentsInBrowser(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	clip, speech := filepath.Join(dir, "clip.mp4"), filepath.Join(dir, "ben.wav")
	for file, content := range map[string][]byte{clip: newClip(t), speech: []byte("speech")} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := album{t: t, b: f.signedIn(t)}
	b := a.b
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{clip}), chromedp.SendKeys("input[name=audio]", "https://example.com/a.wav"),
		chromedp.Click(".panel summary"))
	b.WaitText("[data-length]", "1.0 s") // read from the file itself

	b.WaitText("[data-found]", "waiting for its turn")
	picture := newPoster(t)
	err := f.service.CompleteAnalysis(t.Context(), f.start(t, "", lipsync.Progress{}), order.Analysis{
		Video: order.AnalyzedVideo{Seconds: 20, FPS: 25, Width: 320, Height: 180, Frames: 500},
		Faces: []order.AnalyzedFace{{ID: "0,40,48", Last: 1, JPEG: picture}, {ID: "3,200,50", First: .12, Last: .8, JPEG: picture}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.WaitText("[data-length]", "20.0 s")

	b.Do(chromedp.Click("[data-add-audio]"))
	b.Wait(`document.activeElement.value === "audio 2"`)
	b.Do(chromedp.SetUploadFiles(".more [data-file]", []string{speech}), chromedp.Click("[data-add-segment]"))
	b.Wait(blocks("0–4 s pressed"))
	b.Do(chromedp.Click("[data-add-segment]"))
	b.Wait(blocks("0–4 s", "4–8 s pressed"))
	set(b, "[data-of=start]", "12.5")
	set(b, "[data-of=end]", "18")
	b.Wait(blocks("0–4 s", "12.5–18 s pressed"))
	set(b, "[data-of=audio]", "audio 2")
	b.Do(chromedp.Click("[data-segment] .people label:nth-child(3)"))
	b.Wait(blocks("0–4 s", "12.5–18 s, audio 2 pressed"))
	set(b, "[name=more_ref]", "ben")
	b.Wait(blocks("0–4 s", "12.5–18 s, ben pressed"))
	b.Wait(`document.querySelector("[data-of=audio]").selectedOptions[0].text === "ben" && document.querySelector(".people label:has(:checked)").innerText.trim() === "Face 2: 0.1–0.8 s"`)
	for field, value := range map[string]string{"from": "0.5", "to": "4", "silence": "keep", "voice_gain": "1.5", "original_gain": "0.25"} {
		set(b, "[data-of="+field+"]", value)
	}
	if got := browsertest.Eval[string](b, `[...document.querySelectorAll("[data-whole]")].filter((l) => l.checkVisibility()).map((l) => l.innerText).join()`); got != "" {
		t.Errorf("with segments the form has settings of the whole video: %s", got)
	}
	b.Do(chromedp.Click(".timeline button:nth-child(1)"))
	b.Wait(`document.querySelector(".people label:has(:checked)").innerText.trim() === "The one who speaks" && document.querySelector("[data-of=silence]").value === "rest"`)
	b.Do(chromedp.Click(".timeline button:nth-child(2)"))
	b.Wait(`document.querySelector("[data-of=silence]").value === "keep" && document.querySelector("[data-of=to]").value === "4"`)
	if got := browsertest.Eval[string](b, `[...document.querySelectorAll(".timeline button")].map((b) => b.style.left + " " + b.style.width).join()`); got != "0% 20%,62.5% 27.5%" {
		t.Errorf("got the blocks at %s", got)
	}
	for _, a.Scheme = range []string{"light", "dark"} {
		for _, a.Width = range []int64{390, 1280} {
			b.Look(a.Width, a.Scheme)
			a.look("new-segments")
		}
	}
	b.Do(chromedp.Click("[data-start]"))
	b.Wait(`document.querySelector(".facts code")`)
	all := f.made(t)
	if len(all) != 1 {
		t.Fatalf("got %d requests", len(all))
	}
	const want = `[{"start":0,"end":4},{"start":12.5,"end":18,"audio":{"ref":"ben","start":0.5,"end":4},"options":{"silence":"keep","voice_gain":1.5,"original_gain":0.25,"face":{"frame":3,"point":[200,50]}}}]`
	if got := all[0].Options.Text(); got != `{"segments":`+want+`}` {
		t.Errorf("got %s, want only the segments %s", got, want)
	}
	if got := all[0].Audios(); len(got) != 2 || got[0].URL != "https://example.com/a.wav" || got[1].Ref != "ben" || got[1].Name != "ben.wav" || got[1].Object == "" {
		t.Errorf("got the audios %+v", got)
	}
	for _, a.Scheme = range []string{"light", "dark"} {
		for _, a.Width = range []int64{390, 1280} {
			b.Look(a.Width, a.Scheme)
			a.look("segments")
		}
	}
	b.Back()
	b.Wait(`document.readyState === "complete" && document.querySelector("[data-length]").textContent === "1.0 s" && ` + blocks("0–4 s", "12.5–18 s, ben"))
	b.Wait(`document.querySelectorAll(".more fieldset:not([hidden])").length === 1 && document.querySelector(".more [data-file]").files.length === 1`)
}

// TestInheritedInBrowser adds a segment, which begins with the settings of the whole video, one after it, which has those of the first, and one before all,
// which has those of the video.
func TestInheritedInBrowser(t *testing.T) {
	b := newFixture(t).signedIn(t)
	b.Open(strings.Replace(browsertest.Eval[string](b, "location.href"), "/dashboard", "/dashboard/new", 1))
	set(b, "[name=original_gain]", "2")
	b.Do(chromedp.Click("[name=silence]"), chromedp.Click("[data-add-segment]"))
	b.Wait(blocks("0–4 s pressed"))
	set(b, "[data-of=original_gain]", "0.25")
	b.Do(chromedp.Click("[data-remove-segment]"), chromedp.Click("[data-add-segment]"))
	set(b, "[data-of=voice_gain]", "1.5")
	b.Do(chromedp.Click("[data-add-segment]"))
	b.Wait(blocks("0–4 s", "4–8 s pressed"))
	const whole, second = `"options":{"silence":"keep","original_gain":2}`, `"options":{"silence":"keep","original_gain":2,"voice_gain":1.5}`
	segments := func(want string) {
		t.Helper()
		if got := browsertest.Eval[string](b, `document.querySelector("[name=segments]").value`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	segments(`[{"start":0,"end":4,` + second + "},\n{\"start\":4,\"end\":8," + second + "}]")
	b.Do(chromedp.Click(".timeline button"), chromedp.Click("[data-remove-segment]"))
	b.Do(chromedp.Click(".timeline button"))
	set(b, "[data-of=end]", "30")
	set(b, "[data-of=start]", "20")
	b.Do(chromedp.Click("[data-add-segment]"))
	segments(`[{"start":0,"end":8,` + whole + "},\n{\"start\":20,\"end\":30," + second + "}]")
}

// blocks returns an expression that is true if the timeline has these blocks.
func blocks(texts ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".timeline button")].map((b) =>
		b.textContent + (b.getAttribute("aria-pressed") === "true" ? " pressed" : "")).join("|") === %q`, strings.Join(texts, "|"))
}

// set gives an input a value, as a person does who replaces its value.
func set(b *browsertest.Browser, selector, value string) {
	browsertest.Eval[bool](b, fmt.Sprintf(`(() => {
		const input = document.querySelector(%q);
		input.value = %q;
		return ["input", "change"].every((name) => input.dispatchEvent(new Event(name, { bubbles: true })));
	})()`, selector, value))
}
