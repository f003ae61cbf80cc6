package browsertest

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Keyboard is a person who uses a page by keys only.
type Keyboard struct {
	*Browser
	Pressed int // keys
}

// Press presses keys.
func (k *Keyboard) Press(keys string) {
	k.t.Helper()
	k.Pressed += len([]rune(keys))
	k.Do(chromedp.KeyEvent(keys))
}

// far is the number of presses of Tab that a person has patience for.
const far = 60

// To presses Tab until an element of the selector has the focus, which must be seen.
func (k *Keyboard) To(selector string) {
	k.t.Helper()
	k.tab(selector)
}

// BackTo presses Shift and Tab until an element of the selector has the focus.
func (k *Keyboard) BackTo(selector string) {
	k.t.Helper()
	k.tab(selector, chromedp.KeyModifiers(chromedp.ModifierShift))
}

func (k *Keyboard) tab(selector string, with ...chromedp.KeyOption) {
	k.t.Helper()
	for range far {
		k.Pressed++
		k.Do(chromedp.KeyEvent(kb.Tab, with...))
		if !Eval[bool](k.Browser, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			continue
		}
		if !Eval[bool](k.Browser, seen) {
			k.t.Errorf("the focus on %s isn't seen", selector)
		}
		return
	}
	k.t.Fatalf("no Tab leads to %s; the focus is on %s", selector, Eval[string](k.Browser, "document.activeElement.outerHTML"))
}

// seen tells whether the element with the focus shows that it has it, and nothing lies in front of its middle.
const seen = `(() => {
	const focused = document.activeElement, { x, y, width, height } = focused.getBoundingClientRect();
	const front = document.elementFromPoint(x + width / 2, y + height / 2);
	return focused.matches(":focus-visible") && focused.checkVisibility() && (focused.contains(front) || !!front?.contains(focused));
})()`

// Choose chooses a file in the dialog that the space bar opens on the element with the focus.
func (k *Keyboard) Choose(file string) {
	k.t.Helper()
	opened := make(chan cdp.BackendNodeID, 1)
	listening, stop := context.WithCancel(k.ctx)
	defer stop()
	if err := chromedp.Listen(listening, func(event any) {
		if e, ok := event.(*page.EventFileChooserOpened); ok {
			opened <- e.BackendNodeID
		}
	}); err != nil {
		k.t.Fatal(err)
	}
	k.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true})
		return err
	}))
	k.Press(" ")
	k.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		select {
		case <-ctx.Done():
			return fmt.Errorf("no dialog opens for %s: %w", file, ctx.Err())
		case id := <-opened:
			_, err := cdp.Call(ctx, t, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, BackendNodeID: id})
			return err
		}
	}))
}
