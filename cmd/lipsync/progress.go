package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how much of some work is done: by a bar on a terminal, and otherwise by a line
// for each tenth.
type progress struct {
	w        io.Writer
	terminal bool
	stage    string
	bar      *progressbar.ProgressBar
	tenth    int
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, terminal: isTerminal(w)}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// show shows how many of a stage's steps are done.
func (p *progress) show(stage string, done, total int) {
	total = max(total, done, 1)
	if stage != p.stage {
		p.end()
		p.stage, p.tenth = stage, -1
	}
	if p.terminal {
		p.draw(done, total)
	} else if tenth := 10 * done / total; tenth > p.tenth {
		p.tenth = tenth
		fmt.Fprintf(p.w, "%s %d%%\n", stage, 10*tenth)
	}
}

func (p *progress) draw(done, total int) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(fmt.Sprintf("%-10s", p.stage)),
			progressbar.OptionSetWidth(40),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.bar.ChangeMax(total)
	_ = p.bar.Set(done) // after an error the bar only stands still
}

// end ends the bar of the last stage, and leaves it as it is.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(p.w)
		p.bar = nil
	}
}
