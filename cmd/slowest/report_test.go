package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestReport compares the report on recorded events with testdata/report.txt. The events are those of
// packages that pass, fail, panic, don't compile, and have no tests.
func TestReport(t *testing.T) {
	events, err := os.Open("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	want, err := os.ReadFile("testdata/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	r := newReport(&got)
	if err := r.read(events); err != nil {
		t.Fatal(err)
	}
	r.finish()
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// TestStatus checks that the exit status is that of go test.
func TestStatus(t *testing.T) {
	for args, want := range map[string]int{"-run=^TestReport$ .": 0, "./missing": 1} {
		if got, err := run(strings.Fields(args), io.Discard, io.Discard); got != want || err != nil {
			t.Errorf("%s: got the status %d and %v, want %d", args, got, err, want)
		}
	}
}
