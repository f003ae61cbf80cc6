package dashboard

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"lipsync/internal/test/browsertest"
)

// newFile makes a file of a few bytes.
func newFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "talk.mp4")
	if err := os.WriteFile(file, []byte("a video"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestBackInBrowser comes back to a form that was sent. It shows the chosen file and the typed address.
// After the file is removed, an address can be typed.
func TestBackInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	const typed = "https://example.com/a.wav"
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{newFile(t)}),
		chromedp.SendKeys("input[name=audio]", typed), chromedp.Click("[data-start]"))
	b.WaitText(".facts", typed)
	b.Back()
	b.Wait(`document.readyState === "complete" && document.querySelector("input[name=audio]").value === "` + typed + `"`)
	b.Wait(`!document.querySelector("[data-start]").disabled && document.querySelector("[data-file]").files.length === 1 &&
		document.querySelector(".choose span").textContent.startsWith("talk.mp4") && document.querySelector("input[name=video]").disabled`)
	b.Do(chromedp.Click("[data-drop=video] [data-remove]"))
	b.Wait(`document.querySelector("[data-file]").files.length === 0 && document.querySelector(".choose span").textContent === "Choose a file" &&
		!document.querySelector("input[name=video]").disabled && document.querySelector("[data-remove]").hidden`)
}

// TestSentInBrowser checks that the button to cancel is hidden when the form itself is sent.
func TestSentInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	browsertest.Eval[bool](b, `(document.querySelector(".new").submit = () => { window.sent = true; }, true)`)
	b.Do(chromedp.SendKeys("input[name=video]", "https://example.com/v.mp4"),
		chromedp.SendKeys("input[name=audio]", "https://example.com/a.wav"), chromedp.Click("[data-start]"))
	b.Wait(`window.sent`)
	if offered := browsertest.Eval[bool](b, `!document.querySelector("[data-cancel]").hidden`); offered {
		t.Error("what was sent can be canceled")
	}
}

// TestAgainInBrowser comes back to a form of two addresses and sends it again without a change. That
// makes a second request.
func TestAgainInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SendKeys("input[name=video]", "https://example.com/v.mp4"),
		chromedp.SendKeys("input[name=audio]", "https://example.com/a.wav"), chromedp.Click("[data-start]"))
	const id = `document.querySelector(".facts code").textContent`
	b.Wait(id)
	first := browsertest.Eval[string](b, id)
	b.Back()
	b.Wait(`document.querySelector("input[name=video]").value && !document.querySelector("[data-start]").disabled`)
	browsertest.Eval[bool](b, `(document.querySelector("[data-start]").click(), true)`)
	b.Wait(id + ` !== "` + first + `"`)
}

// TestRefusedInBrowser sends forms that are refused for their content, and forms that don't arrive.
func TestRefusedInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SendKeys("input[name=video]", "ftp://x"), chromedp.SendKeys("input[name=audio]", "ftp://x\n"))
	b.Wait(`document.querySelector("[data-problem]:not([hidden])")?.textContent.startsWith("video URL must be")`)
	for change, want := range map[string]string{
		`document.querySelector(".new [name=csrf]").value = "stale"`:     "this form is out of date: go back, load the page again, and send it once more.",
		`fetch = () => Promise.reject(new TypeError("Failed to fetch"))`: "The service can’t be reached: try again.",
	} {
		b.Open(f.URL + "/dashboard/new")
		browsertest.Eval[bool](b, "("+change+", true)")
		file := newFile(t)
		b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{file}),
			chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{file}), chromedp.Click("[data-start]"))
		b.Wait(`document.querySelector("[data-problem]").textContent === "` + want + `"`)
	}
}

// TestOneRefusedInBrowser refuses one file while the script sends the other. The script stops that too.
func TestOneRefusedInBrowser(t *testing.T) {
	f := newFixture(t)
	handler, began, stopped := f.Config.Handler, make(chan struct{}), make(chan struct{})
	var announced atomic.Int64
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			_, _ = io.Copy(io.Discard, r.Body) // the body may end early
			close(began)
			<-r.Context().Done()
			close(stopped)
		case r.Method == http.MethodPost && announced.Add(1) == 2:
			<-began
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, `{"error": "audio is too large"}`)
		default:
			handler.ServeHTTP(w, r)
		}
	})
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	file := newFile(t)
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{file}),
		chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{file}), chromedp.Click("[data-start]"))
	b.Wait(`document.querySelector("[data-problem]").textContent === "audio is too large."`)
	<-stopped
}
