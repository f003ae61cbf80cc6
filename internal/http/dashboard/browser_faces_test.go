package dashboard

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/browsertest"
)

// TestFacesInBrowser has the faces in a video found, and chooses one by its picture, and another by a click
// into the video. The video is sent once.
func TestFacesInBrowser(t *testing.T) {
	f := newFixture(t)
	handler := f.Config.Handler
	var sent atomic.Int64 // files
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			sent.Add(1)
		}
		handler.ServeHTTP(w, r)
	})
	file := filepath.Join(t.TempDir(), "clip.mp4")
	if err := os.WriteFile(file, newClip(t), 0o600); err != nil {
		t.Fatal(err)
	}
	a := album{t: t, b: f.signedIn(t)}
	b := a.b
	const face = `document.querySelector("[name=face]").value`
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{file}), chromedp.SendKeys("input[name=audio]", "https://example.com/a.wav"))
	b.WaitText("[data-found]", "waiting for its turn")
	r := f.start(t, "", lipsync.Progress{Stage: order.Analyzing, Percent: 40})
	b.WaitText("[data-found]", "Looking for faces: 40 %")
	picture := newPoster(t)
	err := f.service.CompleteAnalysis(t.Context(), r, order.Analysis{
		Video: order.AnalyzedVideo{Seconds: 1, FPS: 25, Width: 320, Height: 180, Frames: 25},
		Faces: []order.AnalyzedFace{{ID: "0,40,48", Last: 1, JPEG: picture}, {ID: "3,200,50", First: .12, Last: .8, JPEG: picture}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Wait(`document.querySelectorAll(".people [type=radio]").length === 3 && document.querySelector(".people input").checked`)
	b.Wait(`[...document.querySelectorAll(".people img")].every((i) => i.complete && i.naturalWidth === 480) && !document.querySelector("[data-still]").hidden`)
	if got := browsertest.Eval[string](b, `document.querySelector(".people").innerText.replaceAll("\n", "|")`); got != "The one who speaks|Face 1: 0.0–1.0 s|Face 2: 0.1–0.8 s" {
		t.Errorf("got the people %q", got)
	}
	b.Do(chromedp.Click("[name=largest_face]"), chromedp.Click(".people label:nth-child(3)"))
	b.Wait(face + ` === "3,200,50" && !document.querySelector("[name=largest_face]").checked`)
	for _, a.Scheme = range []string{"light", "dark"} {
		for _, a.Width = range []int64{390, 1280} {
			b.Look(a.Width, a.Scheme)
			a.look("new-faces")
		}
	}
	browsertest.Eval[bool](b, `(() => {
		const time = document.querySelector(".still input"), video = document.querySelector(".still video");
		video.addEventListener("seeked", () => { window.there = true; });
		time.value = .5; // frame 12 begins at .48 s
		time.dispatchEvent(new Event("input"));
		return true;
	})()`)
	b.Wait("window.there")
	browsertest.Eval[bool](b, `(() => {
		const video = document.querySelector(".still video"), box = video.getBoundingClientRect();
		const at = { clientX: Math.ceil(box.left + .25 * box.width), clientY: Math.ceil(box.top + .5 * box.height) }; // integers
		video.dispatchEvent(new MouseEvent("click", at));
		return true;
	})()`)
	b.Wait(face + ` === "12,80,90" && !document.querySelector(".still i").hidden && !document.querySelector(".people :checked")`)
	b.Do(chromedp.Click("[data-start]"))
	b.Wait(`document.querySelector(".facts code")`)
	all := f.made(t)
	if len(all) != 1 || all[0].Options.Face.String() != "12,80,90" || sent.Load() != 1 {
		t.Errorf("got %+v and %d files, want one request of the chosen face, and one file", all, sent.Load())
	}
}

// TestNoFacesInBrowser looks for faces in videos that can't be used.
func TestNoFacesInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.Click("[data-find]"))
	b.WaitText("[data-problem]", "Choose a video, or give its address.")
	b.Do(chromedp.SendKeys("input[name=video]", "ftp://x"), chromedp.Click("[data-find]"))
	b.WaitText("[data-found]", "video URL must be")
	b.Do(chromedp.SetValue("input[name=video]", "https://example.com/v.mp4"), chromedp.Click("[data-find]"))
	b.WaitText("[data-found]", "waiting for its turn")
	r := f.start(t, "", lipsync.Progress{})
	if err := f.service.Fail(t.Context(), r, failure.Failure{Code: failure.NoPicture}); err != nil {
		t.Fatal(err)
	}
	b.WaitText("[data-found]", "video has no picture.")
	b.Do(chromedp.SendKeys("input[name=video]", "?2"))
	b.Wait(`document.querySelector("[data-found]").textContent === ""`)
}

// made returns the requests of the account, newest first.
func (f *fixture) made(t *testing.T) (all []lipsync.Request) {
	t.Helper()
	listed, _, err := f.service.Requests(t.Context(), f.caller(t, account), service.ListQuery{Limit: 10})
	for _, r := range listed {
		r, getErr := f.service.Details(t.Context(), f.caller(t, account), r.ID)
		all, err = append(all, r), errors.Join(err, getErr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}
