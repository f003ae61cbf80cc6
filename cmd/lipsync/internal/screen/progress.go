// Package screen shows what a command does, on a terminal and in a log, and asks its user.
package screen

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how much of some work is done: by a bar on a terminal, and otherwise by a line
// for each stage.
type Progress struct {
	w        io.Writer
	terminal bool
	stage    string
	bar      *progressbar.ProgressBar
}

// NewProgress returns a Progress that is shown by the writer.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, terminal: IsTerminal(w)}
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Show shows how many of a stage's steps are done.
func (p *Progress) Show(stage string, done, total int) {
	total = max(total, done, 1)
	if stage != p.stage {
		p.End()
		p.stage = stage
		if !p.terminal {
			fmt.Fprintln(p.w, stage)
		}
	}
	if p.terminal {
		p.draw(done, total)
	}
}

func (p *Progress) draw(done, total int) {
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

// End ends the bar of the last stage, and leaves it as it is.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Exit()
		fmt.Fprintln(p.w)
		p.bar = nil
	}
}
