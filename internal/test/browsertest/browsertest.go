// Package browsertest runs a real browser for tests.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// program is the Chromium without windows. It starts in a third of the time of the one with windows.
const program = "chromium-headless-shell"

// patience is the longest time that a test waits for one event.
const patience = 2 * time.Minute

// Browser is a Chromium, or a part of one, with an empty profile, for one test.
type Browser struct {
	ctx context.Context
	t   testing.TB
	axe func() string // reads axe-core once

	mu       sync.Mutex
	problems []string
}

// shared returns the Chromium of all tests that Main runs. Elsewhere it is nil: each test starts its own.
var shared func() (context.Context, error)

// Main runs the tests of a package, which share one Chromium: to start one takes as long as a test. It returns the exit status.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lipsync-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	stop := func() {} // of a browser that no test started would wait for ever
	defer func() { stop() }()
	shared = sync.OnceValues(func() (context.Context, error) {
		ctx, end := launcher(context.Background(), dir)
		ctx, cancel := chromedp.NewContext(ctx)
		stop = func() {
			_ = chromedp.Cancel(ctx) // waits for the browser's end, so that its folder can be removed
			cancel()
			end()
		}
		return ctx, chromedp.Do(ctx)
	})
	return m.Run()
}

// launcher returns a context that starts a Chromium with a profile in the folder.
func launcher(ctx context.Context, dir string) (context.Context, context.CancelFunc) {
	return chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("mute-audio", true))...)
}

// New returns a browser. It skips the test if Chromium is missing, unless LIPSYNC_REQUIRE_CHROMIUM
// is 1. At its end the test fails if a script failed, or tried something that a page's policy
// forbids.
func New(t testing.TB) *Browser {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("LIPSYNC_REQUIRE_CHROMIUM") == "1" {
			t.Fatal(err)
		}
		t.Skip("there is no chromium to look at pages with")
	}
	ctx := open(t)
	b := &Browser{ctx: ctx, t: t, axe: sync.OnceValue(func() string { return readAxe(t) })}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the browser's end, so that its folder can be removed
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, problem := range b.problems {
			t.Errorf("in the browser: %s", problem)
		}
	})
	return b
}

// open returns a context of a browser for the time of the test.
func open(t testing.TB) context.Context {
	t.Helper()
	if shared == nil {
		ctx, stop := launcher(context.WithoutCancel(t.Context()), t.TempDir())
		t.Cleanup(stop)
		ctx, stop = chromedp.NewContext(ctx)
		t.Cleanup(stop)
		return ctx
	}
	all, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := chromedp.NewContext(all, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	return ctx
}

// listen notes exceptions of scripts, violations of a page's policy, and dialogs, since no page of
// the dashboard opens a dialog.
func (b *Browser) listen(event any) {
	var problem string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		if problem = e.ExceptionDetails.Text; e.ExceptionDetails.Exception != nil {
			problem += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity {
			problem = e.Entry.Text
		}
	case *page.EventJavascriptDialogOpening:
		problem = "a dialog says " + e.Message
	}
	if problem != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problems = append(b.problems, problem)
	}
}

// Do does the actions, one after the other. It ends the test if one fails.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("in the browser: %v; the page says: %s", err, b.says())
	}
}

// Open loads a page.
func (b *Browser) Open(address string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(address))
}

// Back begins to go back to the previous page. It doesn't wait for the script that does so, since
// that script may end with its page.
func (b *Browser) Back() {
	b.t.Helper()
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		history, err := cdp.Call(ctx, t, page.GetNavigationHistory, cdp.Empty{})
		if err != nil {
			return err
		}
		before := history.Entries[history.CurrentIndex-1].ID
		_, err = cdp.Call(ctx, t, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: before})
		return err
	}))
}

// Look sets the width of the window in pixels, and the scheme of colours: light or dark.
func (b *Browser) Look(width int64, scheme string) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// picture returns a PNG of the whole page.
func (b *Browser) picture() []byte {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	return picture
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v; the page says: %s", expression, err, b.says())
	}
	return v
}

// Status returns the status of the answer with the page itself.
func (b *Browser) Status() int {
	b.t.Helper()
	return Eval[int](b, `performance.getEntriesByType("navigation")[0].responseStatus`)
}

// ready is an expression that is true if the page was loaded completely and its scripts have run.
const ready = `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd > 0`

// Wait waits until a JavaScript expression is true on a page that was loaded completely. That may
// be another page than now. Before an action that leads to another page, the expression has to be
// false; then it needn't check the address of the new page.
func (b *Browser) Wait(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if yes, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](ready+" && Boolean("+expression+")")); err == nil && yes {
			return
		}
	}
	b.t.Fatalf("never true: %s; the page says: %s", expression, b.says())
}

// WaitText waits until the first element of a CSS selector contains the text.
func (b *Browser) WaitText(selector, text string) {
	b.t.Helper()
	b.Wait(fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", selector, text))
}

// SignIn signs in to the dashboard by a link of one machine, and waits for the page with the heading.
func (b *Browser) SignIn(link, heading string) {
	b.t.Helper()
	b.Open(link)
	b.Do(chromedp.Click("form[action$=sign-in] button"))
	b.WaitText("h1", heading)
}

// SignOut signs out of the dashboard in this browser, where a provider signs people in, and waits until the session has ended.
func (b *Browser) SignOut() {
	b.t.Helper()
	b.Do(chromedp.Click(".me summary"), chromedp.Click(".me form button"))
	b.WaitText(".lead", "Your session has ended.")
}

// says returns the text of the page.
func (b *Browser) says() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.pathname + ': ' + document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}
