package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// shown is the number of tests that a report lists.
const shown = 30

// event is a line of go test -json, see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// timed is a test or a package.
type timed struct {
	name    string
	seconds float64
}

// report prints the events of go test, and collects what it lists at the end.
type report struct {
	out io.Writer

	text     map[string]*strings.Builder // what running tests have printed, by package and test
	inside   map[string]float64          // seconds of the subtests, by package and test
	tests    []timed
	skipped  []string
	printed  map[string][]string // lines that a package has printed; the last one is its closing line
	packages []timed             // the closing lines
}

func newReport(out io.Writer) *report {
	return &report{out: out, text: map[string]*strings.Builder{}, inside: map[string]float64{}, printed: map[string][]string{}}
}

// read reads the events of go test until they end, and prints what go test would print without
// -json: the output of failed tests, what packages print, and a line for each package.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("read what go test prints: %w", err)
		}
	}
}

func (r *report) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Fprint(r.out, line) // a line of go itself
		return
	}
	name := e.Package + "." + e.Test
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test == "":
		r.ofPackage(e)
	case e.Action == "output" && !strings.HasPrefix(e.Output, "=== "):
		if r.text[name] == nil {
			r.text[name] = &strings.Builder{}
		}
		r.text[name].WriteString(e.Output)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		r.end(name, e)
	}
}

// ofPackage keeps what a package printed outside of its tests. It leaves out the line PASS, which says
// no more than the closing line, and packages without tests.
func (r *report) ofPackage(e event) {
	if e.Output == "PASS\n" || strings.Contains(e.Output, "[no test files]") {
		return
	}
	r.printed[e.Package] = append(r.printed[e.Package], e.Output)
}

// end notes the end of a test or a package. It prints the output of a test that failed, and of one
// that was running when its package failed.
func (r *report) end(name string, e event) {
	if e.Test == "" {
		r.endPackage(e)
		return
	}
	if text := r.text[name]; text != nil && e.Action == "fail" {
		fmt.Fprint(r.out, text)
	}
	if e.Action == "skip" {
		r.skipped = append(r.skipped, name+reason(r.text[name]))
	}
	delete(r.text, name)
	if parent := strings.LastIndex(e.Test, "/"); parent >= 0 {
		r.inside[e.Package+"."+e.Test[:parent]] += e.Elapsed
	}
	r.tests = append(r.tests, timed{name, max(0, e.Elapsed-r.inside[name])})
}

// reason returns what a test printed before it was skipped.
func reason(text *strings.Builder) string {
	if text == nil {
		return ""
	}
	before, _, _ := strings.Cut(text.String(), "--- SKIP")
	return " " + strings.TrimSpace(before)
}

// endPackage notes the end of a package, and prints its closing line. If it failed, it prints all of its output, and that of the
// tests that had not ended.
func (r *report) endPackage(e event) {
	for _, name := range slices.Sorted(maps.Keys(r.text)) {
		if strings.HasPrefix(name, e.Package+".") {
			if e.Action == "fail" {
				fmt.Fprint(r.out, r.text[name])
			}
			delete(r.text, name)
		}
	}
	printed := r.printed[e.Package]
	if len(printed) == 0 {
		return
	}
	closing := printed[len(printed)-1]
	if e.Action != "fail" {
		printed = []string{closing} // as go test, which is silent about packages that pass
	}
	fmt.Fprint(r.out, strings.Join(printed, ""))
	r.packages = append(r.packages, timed{closing, e.Elapsed})
}

// finish prints the skipped tests, the slowest ones, and the closing lines of all packages once
// more, the slowest first. The time of a test is without that of its subtests.
func (r *report) finish() {
	if len(r.skipped) > 0 {
		fmt.Fprintf(r.out, "\nSkipped tests: %d\n%s\n", len(r.skipped), strings.Join(r.skipped, "\n"))
	}
	slowest := bySeconds(r.tests)
	slowest = slowest[:min(shown, len(slowest))]
	fmt.Fprintf(r.out, "\nThe %d slowest tests, in seconds:\n", len(slowest))
	for _, t := range slowest {
		fmt.Fprintf(r.out, "%8.2f  %s\n", t.seconds, t.name)
	}
	fmt.Fprint(r.out, "\nThe packages, the slowest first:\n")
	for _, p := range bySeconds(r.packages) {
		fmt.Fprint(r.out, p.name)
	}
}

func bySeconds(all []timed) []timed {
	return slices.SortedStableFunc(slices.Values(all), func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
}
