// Command quality renders a set of videos with several voices and texts. It measures
// how well the lips follow the speech, prints a table with the change since the last
// table that was kept, and draws contact sheets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// flags are the command line.
type flags struct {
	Lipsync    string   `default:"bin/lipsync" placeholder:"FILE" help:"The program that renders (default: ${default})."`
	Before     string   `placeholder:"FILE" help:"Another build of it. The table then shows the change against that one, and sheets show both, as X and Y in random order; blind.json tells which is which."`
	Set        string   `default:"full" enum:"full,quick" help:"What to render: full, or quick (default: ${default})."`
	Sheets     []string `default:"${passages}" enum:"${passages},none" placeholder:"NAME,…" help:"Passages to draw: closed (m b p), vowels (the open ones), teeth (f v), rounded (w u sh and others), run (48 consecutive frames), hold (the longest), or none (default: ${default})."`
	Keep       bool     `help:"Keep the table of the full set, in docs/measurements, for later runs to compare with, and the pictures of docs/engine.md."`
	Jobs       int      `default:"2" help:"Trials rendered and measured at once (default: ${default})."`
	Shared     string   `env:"LIPSYNC_SHARED" default:"../shared" placeholder:"DIR" help:"The folder of clips and measuring tools (default: $$LIPSYNC_SHARED, or ${default})."`
	Python     string   `default:".cache/quality/venv/bin/python" placeholder:"FILE" help:"Python with the libraries of cmd/quality/requirements.txt (default: ${default})."`
	Recordings string   `default:".cache/quality/recordings" placeholder:"DIR" help:"Recordings of readers (default: ${default})."`
	Out        string   `default:"dist/quality" placeholder:"DIR" help:"Where everything is written; what is there from the last run is removed (default: ${default})."`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Name("quality"), kong.Vars{"passages": passages},
		kong.Description("Measure how well lips follow speech, over a set of videos, voices and texts."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := f.run(ctx, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "quality: %v\n", err)
		os.Exit(1)
	}
}

const kept = "docs/measurements/quality"

func (f *flags) run(ctx context.Context, out, progress io.Writer) error {
	if f.Keep && (f.Set != "full" || !slices.Equal(f.Sheets, strings.Split(passages, ","))) {
		return errors.New("only the table and the sheets of the full set are kept")
	}
	l := &layout{Shared: f.Shared, Python: f.Python, Recordings: f.Recordings, Out: f.Out}
	if err := l.check(); err != nil {
		return err
	}
	for _, folder := range []string{"media", "sheets", "before", "after"} {
		if err := errors.Join(os.RemoveAll(l.file(folder, "", "")), os.MkdirAll(l.file(folder, "", ""), 0o755)); err != nil {
			return err
		}
	}
	all := trials(f.Set == "quick")
	if err := l.prepare(ctx, all); err != nil {
		return err
	}
	programs := []program{{"after", f.Lipsync}}
	if f.Before != "" {
		programs = append(programs, program{"before", f.Before})
	}
	run := &measurement{layout: l, programs: programs, passages: f.passages(), progress: progress}
	tables, err := run.do(ctx, all, f.Jobs)
	if err != nil {
		return err
	}
	last := tables["before"]
	if f.Before == "" {
		if last, err = readTable(kept + ".json"); err != nil {
			return err
		}
	} else if err := writeJSON(l.file("", "blind", ".json"), run.blind); err != nil {
		return err
	}
	if err := write(out, tables["after"], last); err != nil {
		return err
	}
	sheets := l.file("sheets", "", "")
	fmt.Fprintf(out, "Contact sheets: %s\n", sheets)
	if f.Keep {
		if err := keepPictures(sheets, "docs/pictures"); err != nil {
			return err
		}
	}
	return f.save(tables["after"], last)
}

// passages returns the passages to draw.
func (f *flags) passages() []string {
	return slices.DeleteFunc(slices.Clone(f.Sheets), func(name string) bool { return name == "none" })
}

// save writes the table beside the sheets. If the table is kept, save also writes it to
// docs, where later runs find it.
func (f *flags) save(rows, last []row) error {
	targets := []string{filepath.Join(f.Out, "quality")}
	if f.Keep {
		targets = append(targets, kept)
	}
	for _, target := range targets {
		file, err := os.Create(target + ".txt")
		if err != nil {
			return err
		}
		if err := errors.Join(page(file, rows, last), file.Close(), writeJSON(target+".json", rows)); err != nil {
			return err
		}
	}
	return nil
}
