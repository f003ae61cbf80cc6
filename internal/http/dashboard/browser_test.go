package dashboard

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/browsertest"
)

// TestListInBrowser filters and pages 500 requests by clicks.
func TestListInBrowser(t *testing.T) {
	f := newFixture(t)
	c := f.caller(t, account)
	for i := range 500 {
		if id := f.add(t, c, fmt.Sprintf("order-%d", i)); i%10 != 0 {
			f.fail(t, id, noFace)
		}
	}
	b := f.signedIn(t)
	b.WaitText(".pager", "1–25 of 500")
	b.Do(chromedp.Click("a[rel=next]"))
	b.WaitText(".pager", "26–50 of 500")
	b.Do(chromedp.Click(".chips a[href*=queued]"))
	b.Wait(`document.querySelector(".chips [aria-current]")?.textContent.startsWith("queued") && document.querySelectorAll(".rows tbody tr").length === 25`)
	b.Do(chromedp.Click("a[rel=next]"))
	b.Wait(`document.querySelector("a[rel=prev]") && !document.querySelector("a[rel=next]")`)
	if got := browsertest.Eval[string](b, `document.querySelector(".rows tbody tr:last-child .name a").innerText`); got != "order-0" {
		t.Errorf("the last one that is queued: got %q, want order-0", got)
	}
	b.Do(chromedp.Click(".chips a"))
	b.WaitText(".pager", "1–25 of 500")
	b.Do(chromedp.SendKeys("input[name=q]", "order-77\n"))
	b.Wait(`document.querySelectorAll(".rows tbody tr").length === 1`)
}

// TestLiveInBrowser watches a request to its end, with the focus on a link. One answer fails on the
// way. At last the session ends.
func TestLiveInBrowser(t *testing.T) {
	f := newFixture(t)
	id := f.add(t, f.caller(t, account), "watched")
	b := f.signedIn(t)
	b.Wait(`document.querySelector(".rows .queued")`)
	browsertest.Eval[bool](b, `(document.querySelector(".rows .name a").focus(), true)`)
	r := f.start(t, id, lipsync.Progress{Stage: order.Analyzing, Percent: 12})
	b.Wait(`document.querySelector(".rows .processing") && document.activeElement.matches(".rows .name a")`)
	b.Do(chromedp.Click(".rows .name a"))
	b.Wait(`document.querySelector("progress")?.value === 12`)
	browsertest.Eval[bool](b, `(() => {
		window.spoken = document.querySelector("[aria-live]"); // which screen readers follow as long as it stays
		const real = fetch;
		window.fetch = () => { window.fetch = real; return Promise.resolve(new Response("", { status: 503 })); };
		return true;
	})()`)
	f.clock.Advance(5 * time.Second)
	b.Wait(`document.querySelector(".facts").textContent.includes("5.0 s")`)
	if err := f.service.Report(t.Context(), r, lipsync.Progress{Stage: order.Rendering, Percent: 60}); err != nil {
		t.Fatal(err)
	}
	b.Wait(`document.querySelector("progress").value === 60 && window.spoken.isConnected && window.spoken.innerText.endsWith("rendering")`)
	if err := f.service.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace}); err != nil {
		t.Fatal(err)
	}
	b.Wait(`document.querySelector("[role=alert]")?.textContent.includes("no face found in the video")`)

	f.add(t, f.caller(t, account), "waiting")
	b.Open(f.URL + "/dashboard")
	b.Wait(`document.querySelector("[data-live]")`)
	f.clock.Advance(sessionLife + time.Second)
	b.WaitText("h1", "Sign in")
}

// TestBrokenInBrowser shows videos that no browser can play.
func TestBrokenInBrowser(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	made := f.send(t, "/dashboard/new", url.Values{"video": {f.upload(t, "video")}, "audio": {f.upload(t, "audio")}}).header.Get("Location")
	f.complete(t, filepath.Base(made))
	b := f.signedIn(t)
	b.Open(f.URL + made)
	b.Wait(`[...document.querySelectorAll("figure")].map((f) => f.innerText.trim().replace(/\s+/g, " ")).join() ===
		"This browser can’t play it. Original,This browser can’t play it. Output" && !document.querySelector("video")`)
}

// TestPictureInBrowser shows a source that is a picture.
func TestPictureInBrowser(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	made := f.send(t, "/dashboard/new", url.Values{"video": {f.uploadOf(t, "video", "Photo.JPG", newPoster(t))}, "audio": {f.upload(t, "audio")}}).header.Get("Location")
	b := f.signedIn(t)
	for _, state := range []string{"waiting", "completed"} {
		b.Open(f.URL + made)
		b.Wait(`document.querySelector("figure img")?.naturalWidth === 480`)
		if got := browsertest.Eval[string](b, `document.querySelector("figcaption").textContent`); got != "Original" {
			t.Errorf("%s: got caption %q, want only Original", state, got)
		}
		if state == "waiting" {
			f.complete(t, filepath.Base(made))
		}
	}
}

// TestAddressInBrowser shows a source at a client's address. Nothing calls that address before the
// output plays. Then both videos play. The source begins to load when the output plays, and comes to the
// output's time even if the output has ended meanwhile.
func TestAddressInBrowser(t *testing.T) {
	f, clip := newFixture(t), newClip(t)
	var calls atomic.Int64
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		time.Sleep(1500 * time.Millisecond) // the output ends before
		http.ServeContent(w, r, "v.mp4", time.Time{}, bytes.NewReader(clip))
	}))
	t.Cleanup(client.Close)
	id, err := f.service.Generate(t.Context(), f.caller(t, account), requests.Params{
		Video: requests.Source{URL: client.URL + "/v.mp4"}, Audios: []requests.Track{{Source: requests.Source{URL: client.URL + "/a.wav"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.output(t, id, clip, nil)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/requests/" + id)
	b.Wait(`document.querySelector("[data-output]").readyState >= 2`)
	if n := calls.Load(); n != 0 {
		t.Errorf("got %d calls before anything played, want none", n)
	}
	browsertest.Eval[bool](b, `(document.querySelector("[data-output]").muted = true, document.querySelector("[data-output]").play().then(() => true))`)
	b.Wait(`document.querySelector("[data-output]").ended`)
	b.Wait(`document.querySelector("[data-source]").currentTime > 0.5`)
}

// TestPosterInBrowser shows a poster. Its address stays while the list changes, but no longer than its
// signature is surely valid.
func TestPosterInBrowser(t *testing.T) {
	f := newFixture(t)
	c := f.caller(t, account)
	id, live := f.add(t, c, ""), f.add(t, c, "")
	f.output(t, id, []byte("video"), newPoster(t))
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard")
	b.Wait(`document.querySelector(".poster img").naturalWidth === 480`)
	const address = `document.querySelector(".poster img").getAttribute("src")`
	before := browsertest.Eval[string](b, address)
	f.clock.Advance(time.Minute) // after a minute a new signature differs
	f.start(t, live, lipsync.Progress{Stage: order.Rendering})
	b.Wait(`document.querySelector("#list").textContent.includes("processing")`)
	if got := browsertest.Eval[string](b, address); got != before {
		t.Errorf("got %s, want it as before: %s", got, before)
	}
	browsertest.Eval[bool](b, `(() => {
		const real = Date.now;
		Date.now = () => real() + 60 * 60 * 1000;
		return true;
	})()`)
	b.Wait(fmt.Sprintf(`%s !== %q && document.querySelector(".poster img").naturalWidth === 480`, address, before))
}

// TestUploadInBrowser cancels uploads that stall, before the script has an address for them and while it
// sends them. Their name would be a picture that runs a script if it weren't escaped.
func TestUploadInBrowser(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>.mp4"
	file := filepath.Join(t.TempDir(), evil)
	if err := os.WriteFile(file, make([]byte, 5_000_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut} {
		f := newFixture(t)
		defer f.stall(method)()
		b := f.signedIn(t)
		b.Open(f.URL + "/dashboard/new")
		b.Do(chromedp.Click("[data-start]"))
		b.Wait(`document.querySelector("[data-problem]").textContent === "Choose a video, or give its address."`)
		b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{file}),
			chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{file}))
		b.Wait(`document.querySelector(".choose span").textContent.startsWith("` + evil + `, 5.0 MB")`)
		b.Do(chromedp.Click("[data-start]"))
		b.Wait(`document.querySelectorAll(".sent:not([hidden])").length === 2`)
		if late := browsertest.Eval[string](b, `(() => {
			const dataTransfer = new DataTransfer();
			dataTransfer.items.add(new File(["x"], "late.mp4"));
			document.querySelector("[data-drop=video]").dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
			return document.querySelectorAll("fieldset:disabled").length + " " + document.querySelector("[data-file]").files[0].name;
		})()`); late != "2 "+evil {
			t.Errorf("on the way: got %s fixed, want 2 %s", late, evil)
		}
		b.Do(chromedp.Click("[data-cancel]"))
		b.Wait(`document.querySelector("[data-problem]").textContent === "Canceled. Nothing was started." &&
			!document.querySelector("[data-start]").disabled && !document.querySelector("fieldset:disabled")`)
		if n := browsertest.Eval[int](b, `document.querySelectorAll("main img:not([alt=\"The picture\"])").length`); n != 0 {
			t.Error("the name of a file became a picture")
		}
		if page, err := f.service.RequestPage(t.Context(), lipsync.Caller{Account: account}, service.ListQuery{Limit: 1}); err != nil || page.Total != 0 {
			t.Errorf("got %d requests (%v), want none", page.Total, err)
		}
	}
}

// stall delays the answers to all calls of a method, except for signing in, until end is called.
func (f *fixture) stall(method string) (end func()) {
	handler, over := f.Config.Handler, make(chan struct{})
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method && !strings.HasSuffix(r.URL.Path, "/sign-in") {
			<-over
		}
		handler.ServeHTTP(w, r)
	})
	return func() { close(over) }
}
