package soak

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Report is what there was at the end. The lists hold what must not be there, one line each.
type Report struct {
	Jobs      int // requests that clients made
	Completed int
	Failed    int // that had all their attempts
	Spare     int // objects of records that have no more use for them

	Lost     []string // requests that didn't end, or whose output is not right, and calls that were refused
	Twice    []string // requests that ended more than once
	NoRecord []string // objects that no record names
	Uses     []string // keys and accounts whose counts are wrong
	Replies  []string // of generate calls that were repeated and differ, and requests that nobody asked for
}

// shown is how many lines of a list a failure shows.
const shown = 5

// Print prints the report as a table. What must not be there fails the test.
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
