package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

// TestEstimates makes estimates as the script does, and reads that of another account.
func TestEstimates(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	f.send(t, "/dashboard/estimates", url.Values{"video": {"x"}}).must(t, http.StatusBadRequest, `{"error":"video URL must be`)
	form := url.Values{"video": {" https://example.com/v "}, "audio": {"https://example.com/a"}, "preview": {"x"}, "once": {"1"}}
	f.send(t, "/dashboard/estimates", form).must(t, http.StatusBadRequest, `{"error":"preview must be`)
	form.Set("preview", "1,2")
	estimate := func() (path string) {
		made := f.send(t, "/dashboard/estimates", form)
		made.must(t, http.StatusOK, `"status":"queued"`)
		var e estimated
		if err := json.Unmarshal([]byte(made.body), &e); err != nil {
			t.Fatal(err)
		}
		f.get(t, "/dashboard/estimates/"+e.ID).must(t, http.StatusOK, `{"id":"`+e.ID+`","status":"queued"}`)
		return "/dashboard/estimates/" + e.ID
	}
	says := func(path, text string) {
		t.Helper()
		f.get(t, path).must(t, http.StatusOK, `,"says":"`+text+`"}`)
	}
	complete := func(e order.Estimate) {
		t.Helper()
		r := f.start(t, "", lipsync.Progress{})
		if r.Options.Preview.Length != 2*time.Second {
			t.Errorf("got the options %+v, want those of the form", r.Options)
		}
		if err := f.service.CompleteEstimate(t.Context(), r, e); err != nil {
			t.Fatal(err)
		}
	}
	first := estimate()
	found := order.Estimate{OutputSeconds: 9.2, Frames: 230, Size: 1000}
	complete(found)
	says(first, "The output would have 9.2 s, 230 frames. It would be at place 1 of the queue.")
	f.service.Workers = 1
	if err := f.service.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, 70*time.Second); err != nil {
		t.Fatal(err)
	}
	says(first, "The output would have 9.2 s, 230 frames. A worker would take about 1 min 10 s. It would be at place 1 of the queue. It would be done in about 1 min 10 s.")
	second := estimate()
	complete(order.Estimate{Problems: []order.Problem{{Message: "video is not a supported format"}, {Message: "audio has no sound track"}}})
	says(second, "The request would fail now. Video is not a supported format. Audio has no sound track.")
	third := estimate()
	if err := f.service.Fail(t.Context(), f.start(t, "", lipsync.Progress{}), failure.Failure{Code: failure.InternalFault}); err != nil {
		t.Fatal(err)
	}
	says(third, "There is no estimate: processing failed.")
	f.get(t, "/dashboard").must(t, http.StatusOK, "No requests yet")
	f.clock.Advance(lipsync.Retention{}.OutputLife())
	f.signIn(t)
	says(first, "The estimate is no longer kept.")
	other, err := f.service.Estimate(t.Context(), lipsync.Caller{Account: "other"}, requests.Params{
		Video: requests.Source{URL: "https://example.com/v"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.get(t, "/dashboard/estimates/"+other).must(t, http.StatusNotFound, `{"error":"estimate not found"}`)
	f.service.GenerateRate = 1
	f.send(t, "/dashboard/estimates", form)
	f.send(t, "/dashboard/estimates", form).must(t, http.StatusTooManyRequests, `{"error":`)
}

// TestEstimateInBrowser estimates a form of a file and an address, and then starts the request.
func TestEstimateInBrowser(t *testing.T) {
	f := newFixture(t)
	a := album{t: t, b: f.signedIn(t)}
	b := a.b
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.Click("[data-estimate]"))
	b.WaitText("[data-problem]", "Choose a video, or give its address.")
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{newFile(t)}), chromedp.SendKeys("input[name=audio]", "ftp://x"), chromedp.Click("[data-estimate]"))
	b.WaitText("[data-estimated]", "audio URL must be")
	b.WaitText("[data-found]", "waiting for its turn")
	if err := f.service.Fail(t.Context(), f.start(t, "", lipsync.Progress{}), noFace); err != nil { // the search for faces
		t.Fatal(err)
	}
	b.Do(chromedp.SetValue("input[name=audio]", "https://example.com/a.wav"), chromedp.Click("[data-estimate]"))
	b.WaitText("[data-estimated]", "Looking at the media …")
	r := f.start(t, "", lipsync.Progress{})
	if r.Audio.URL != "https://example.com/a.wav" || r.Video.Object == "" {
		t.Errorf("got the estimate of %+v", r)
	}
	if err := f.service.CompleteEstimate(t.Context(), r, order.Estimate{OutputSeconds: 9.2, Frames: 230, Size: 1000}); err != nil {
		t.Fatal(err)
	}
	b.WaitText("[data-estimated]", "The output would have 9.2 s, 230 frames. It would be at place 1 of the queue.")
	for _, a.Scheme = range []string{"light", "dark"} {
		for _, a.Width = range []int64{390, 1280} {
			b.Look(a.Width, a.Scheme)
			a.look("new-estimated")
		}
	}
	b.Do(chromedp.SendKeys("input[name=audio]", "?2"))
	b.Wait(`document.querySelector("[data-estimated]").textContent === ""`)
	b.Do(chromedp.Click("[data-start]"))
	b.WaitText(".facts", "https://example.com/a.wav?2")
}
