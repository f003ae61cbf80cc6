package browsertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestWait follows a link to a page that arrives in two parts. Wait evaluates its expression only on
// the complete page, and WaitText finds a text of the second part.
func TestWait(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			_, _ = io.WriteString(w, `<!doctype html><a id="on" href="/next">On</a>`)
			return
		}
		_, _ = io.WriteString(w, `<!doctype html><h1>First</h1>`)
		w.(http.Flusher).Flush()
		time.Sleep(500 * time.Millisecond)
		_, _ = io.WriteString(w, `<p>Second</p>`)
	}))
	t.Cleanup(server.Close)
	b := New(t)
	b.Open(server.URL)
	b.Do(chromedp.Click("#on"))
	b.Wait(`document.querySelector("h1")`)
	if got := Eval[string](b, `document.querySelector("p")?.textContent ?? "nothing"`); got != "Second" {
		t.Errorf("got %s after the heading, want Second", got)
	}
	b.Open(server.URL)
	b.Do(chromedp.Click("#on"))
	b.WaitText("p", "Second")
}

// TestProblems opens a page with one problem that axe-core calls critical, one that it calls serious, and two lighter ones: no heading,
// and a text outside of landmarks.
func TestProblems(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<!doctype html><html lang="en"><title>Page</title><p style="color:#ddd">Pale</p><button></button>`)
	}))
	t.Cleanup(server.Close)
	b := New(t)
	if b.axe() == "" {
		t.Skip("axe-core is not installed")
	}
	b.Open(server.URL)
	want := []string{`button-name: <button></button>`, `color-contrast: <p style="color:#ddd">Pale</p>`}
	for range 2 { // the second time with the script of the first
		if got := b.Problems(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
