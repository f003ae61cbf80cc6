package soak

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Report is the result of a soak test. Its lists have one line for each error.
type Report struct {
	Jobs      int // number of requests that clients made
	Completed int
	Failed    int // requests that used up all attempts
	Spare     int // objects that their record no longer needs

	Lost     []string // requests that did not end or have a wrong output, and refused calls
	Twice    []string // requests that ended more than once
	NoRecord []string // objects that no record names
	Uses     []string // keys and accounts with wrong counts
	Replies  []string // repeated generate calls with another reply, and requests that no client made
}

// shown is the number of lines that a failure shows of a list.
const shown = 5

// Print prints the report as a table. It fails the test if a list is not empty.
func (r Report) Print(t *testing.T, faults string, took time.Duration) {
	t.Helper()
	lists := []struct {
		name  string
		lines []string
	}{{"lost", r.Lost}, {"ended twice", r.Twice}, {"without a record", r.NoRecord}, {"wrong counts", r.Uses}, {"other replies", r.Replies}}
	var names, figures strings.Builder
	for _, list := range lists {
		fmt.Fprintf(&names, " %s |", list.name)
		fmt.Fprintf(&figures, " %d |", len(list.lines))
		if len(list.lines) > 0 {
			t.Errorf("%s: %d\n%s", list.name, len(list.lines), strings.Join(list.lines[:min(shown, len(list.lines))], "\n"))
		}
	}
	t.Logf("\n| requests | faults | completed | failed |%s spare objects | time |\n| %d | %s | %d | %d |%s %d | %v |",
		names.String(), r.Jobs, faults, r.Completed, r.Failed, figures.String(), r.Spare, took.Round(time.Second))
}
