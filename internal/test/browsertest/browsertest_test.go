package browsertest

import (
	"io"
	"net/http"
	"net/http/httptest"
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
