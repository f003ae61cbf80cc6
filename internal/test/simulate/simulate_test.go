package simulate_test

import (
	"flag"
	"os"
	"os/signal"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/test/simulate"
)

var (
	jobs   = flag.Float64("jobs", 0, "jobs a day; 0 skips the test")
	seed   = flag.Uint64("seed", 1, "seed of all random values")
	from   = flag.Duration("from", 0, "time of day at which the simulation begins")
	warmUp = flag.Duration("warm-up", 0, "time left out of the report at first")
	small  = flag.Int("small", -1, "small workers at a time; -1 leaves the plan's")
	length = flag.Duration("length", 24*time.Hour, "how long clients arrive")
)

// run simulates the plan.
func run(t *testing.T, p simulate.Plan) (r *simulate.Report) {
	t.Helper()
	p.Scratch = t.TempDir() // in memory if TMPDIR is, since workers make a folder for each job
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = simulate.Run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("in %v:\n%s", time.Since(start).Round(time.Second), r.Markdown())
	return r
}

// TestDay simulates a day or a part of one, if the flags ask for it. An interrupt ends it within
// seconds, with a report so far.
func TestDay(t *testing.T) {
	if *jobs == 0 {
		t.Skip("no -jobs")
	}
	interrupted, release := signal.NotifyContext(t.Context(), os.Interrupt)
	defer release()
	p := simulate.Day(*jobs, *seed).Part(*from, *length, *warmUp)
	if p.Log = t.Logf; *small >= 0 {
		p.Small.Most = *small
	}
	p.Stop = func() bool { return interrupted.Err() != nil }
	run(t, p)
}
