package gpucheck

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Plan lists the checks that would run on a machine with a GPU.
func Plan(w io.Writer, checks []Check) {
	for i, c := range checks {
		fmt.Fprintf(w, "%d. %s: %s\n", i+1, c.Name, c.What)
	}
}

// notChecked begins the cell of a row that gives the reason why something was not checked.
const notChecked = "not checked: "

// partly tells whether something was not checked.
func (r *Result) partly() bool {
	return slices.ContainsFunc(slices.Concat(r.Rows...), func(cell string) bool { return strings.HasPrefix(cell, notChecked) })
}

// Print writes the result of one check as Markdown.
func (r *Result) Print(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n", r.Name, r.What)
	table(w, r.Head, r.Rows)
	fmt.Fprintf(w, "\nIt took %.0f s, and %s.\n", r.Took.Seconds(), r.outcome())
}

// outcome returns the end of a sentence: how the check ended.
func (r *Result) outcome() string {
	switch {
	case r.Err != nil:
		return "failed: " + r.Err.Error()
	case r.partly():
		return "passed, except for what was not checked"
	}
	return "passed"
}

// Report writes results as Markdown, and returns the joined errors of the checks that
// failed. The notes are sentences about the machine.
func Report(w io.Writer, notes []string, results []Result) error {
	fmt.Fprint(w, "# GPU check\n\n")
	for _, note := range notes {
		fmt.Fprintf(w, "- %s\n", note)
	}
	var failed []error
	summary := [][]string{}
	for _, r := range results {
		if r.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Name, r.Err))
		}
		summary = append(summary, []string{r.Name, r.outcome()})
	}
	fmt.Fprintln(w)
	table(w, []string{"Check", "Result"}, summary)
	for _, r := range results {
		r.Print(w)
	}
	return errors.Join(failed...)
}

// table writes a table in Markdown. Cells of a row that are missing are empty.
func table(w io.Writer, head []string, rows [][]string) {
	line := func(cells []string) {
		for i := range head {
			cell := ""
			if i < len(cells) {
				cell = strings.ReplaceAll(strings.Join(strings.Fields(cells[i]), " "), "|", `\|`)
			}
			fmt.Fprintf(w, "| %s ", cell)
		}
		fmt.Fprintln(w, "|")
	}
	line(head)
	fmt.Fprintln(w, strings.Repeat("|---", len(head))+"|")
	for _, row := range rows {
		line(row)
	}
}
