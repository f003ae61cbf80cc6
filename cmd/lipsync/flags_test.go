package main

import (
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/render/intake"
	"lipsync/internal/work/worker"
)

// TestDefaults checks that the defaults of the table of settings are those of the packages with
// defaults of their own.
func TestDefaults(t *testing.T) {
	var c commands
	if _, err := kong.Must(&c, flags.Describe(nil), kong.Vars{"version": "v", "account": "a", "segment_options": flags.SegmentOptions()}).Parse([]string{"serve"}); err != nil {
		t.Fatal(err)
	}
	if got, want := worker.Limits(c.Serve.Settings), intake.DefaultLimits(); got != want {
		t.Errorf("got limits of media %+v, want %+v", got, want)
	}
	got, want := c.Serve.Config(base.Config{}).Limits, lipsync.DefaultLimits()
	want.Batches, want.Webhooks, want.Undelivered = 0, 0, 0 // no settings: 0 is the default
	want.Keep = lipsync.Retention{Inputs: lipsync.Retention{}.InputLife(), Outputs: lipsync.Retention{}.OutputLife(), Findings: 24 * time.Hour, Records: 365 * 24 * time.Hour}
	if got != want {
		t.Errorf("got limits of accounts %+v, want %+v", got, want)
	}
}

// TestDefaultWorkers checks the number of requests that are rendered at once on machines of several sizes.
func TestDefaultWorkers(t *testing.T) {
	for _, c := range []struct {
		cores int
		gpu   bool
		want  int
	}{{1, false, 1}, {4, false, 1}, {16, false, 4}, {2, true, 2}, {4, true, 2}, {16, true, 8}} {
		if got := defaultWorkers(c.cores, c.gpu); got != c.want {
			t.Errorf("%d cores, GPU %v: got %d, want %d", c.cores, c.gpu, got, c.want)
		}
	}
}
