package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Window is the width of a window in pixels, and a scheme of colours: light or dark.
type Window struct {
	Width  int64
	Scheme string
}

// Inspect checks that the open page is not wider than its window, and that people with disabilities can use it. It writes a picture of it to a
// folder, unless that is "".
func (b *Browser) Inspect(name string, w Window, folder string) {
	b.t.Helper()
	name = fmt.Sprintf("%s-%d-%s", name, w.Width, w.Scheme)
	if Eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
		b.t.Errorf("%s is wider than its window", name)
	}
	for _, problem := range b.Problems() {
		b.t.Errorf("%s: %s", name, problem)
	}
	if folder == "" {
		return
	}
	time.Sleep(200 * time.Millisecond) // until pictures and videos are shown
	if err := os.WriteFile(filepath.Join(folder, name+".png"), b.picture(), 0o600); err != nil {
		b.t.Fatal(err)
	}
}
