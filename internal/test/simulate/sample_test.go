package simulate_test

import (
	"testing"
	"time"

	"lipsync/internal/test/simulate"
)

// sample returns the plan of an hour with a burst. Renders last longer than a lease; machines have
// two workers each.
func sample() simulate.Plan {
	p := simulate.Day(4000, 1)
	p.From, p.Length, p.BurstAt, p.Burst = 13*time.Hour, time.Hour, 13*time.Hour+20*time.Minute, 100
	p.Accounts, p.Canceled, p.Polled, p.Render = 10, .05, .2, 80*time.Second
	p.Small.Most, p.Neural.Share = 0, 0
	p.MaxWorkers, p.Fleet.Instances, p.Fleet.Slots = 60, 30, 2
	// More faults than on a real day.
	p.Table.Lost, p.Functions.Lost = 1e-3, .02
	p.Messages.Lost, p.Messages.Doubled, p.Messages.Late = .05, .05, .05
	p.Fleet.Reclaims, p.Fleet.Kills = .3, .3
	return p
}

// TestSample_long simulates an hour with many faults. No request may be lost or done twice, jobs must
// start in time, and attempts may exceed jobs only by about the number of dead workers.
func TestSample_long(t *testing.T) {
	r := run(t, sample())
	if r.Jobs < 500 || len(r.Lost) > 0 || len(r.Doubled) > 0 || len(r.Wrong) > 0 || r.Abandoned > 0 {
		t.Errorf("got %d jobs; lost %v, doubled %v, wrong %v, %d given up; want 500 or more, and none of the others", r.Jobs, r.Lost, r.Doubled, r.Wrong, r.Abandoned)
	}
	if r.Completed+r.Canceled != r.Jobs || r.Canceled == 0 {
		t.Errorf("of %d jobs %d are completed and %d canceled", r.Jobs, r.Completed, r.Canceled)
	}
	if again := float64(r.Attempts) / float64(r.Jobs); again > 1.1 {
		t.Errorf("got %.3f attempts for each job, want 1.1 at most", again)
	}
	if r.Start.All > 20*time.Minute || r.StartBurst.All > 20*time.Minute {
		t.Errorf("jobs start after %v, and %v in a burst; want 20m at most", r.Start, r.StartBurst)
	}
	if r.Utilisation < .4 {
		t.Errorf("got a utilisation of %.2f, want .4 or more", r.Utilisation)
	}
	if more := float64(r.Reads) / float64(r.Readers); more < .9 || more > 1.1 {
		t.Errorf("clients read %d times, and %d were counted", r.Reads, r.Readers)
	}
	for _, p := range r.Partitions {
		if p.Items > 500 {
			t.Errorf("%s has %d writes in a second, want 500 at most", p.Name, p.Items)
		}
	}
}

// TestNothingStarts has a pool that starts nothing. The report must show it.
func TestNothingStarts(t *testing.T) {
	p := sample()
	p.Length, p.Fleet.Instances = 10*time.Minute, 0
	if r := run(t, p); len(r.Lost) < r.Jobs/2 {
		t.Errorf("got %d of %d jobs lost, want all that were not canceled", len(r.Lost), r.Jobs)
	}
}

// TestStop stops a simulation in the middle. It must end at once, and report the open requests.
func TestStop(t *testing.T) {
	p := sample()
	calls := 0
	p.Stop = func() bool { calls++; return calls > 25*60 }
	r := run(t, p)
	if len(r.Lost) > 0 || len(r.Doubled) > 0 || len(r.Wrong) > 0 {
		t.Errorf("lost %v, doubled %v, wrong %v; want none", r.Lost, r.Doubled, r.Wrong)
	}
	if r.Open == 0 || r.Completed == 0 || r.Open+r.Completed+r.Canceled != r.Jobs {
		t.Errorf("of %d jobs %d are completed, %d canceled and %d open", r.Jobs, r.Completed, r.Canceled, r.Open)
	}
	if calls > 25*60+1 {
		t.Errorf("the simulation went on for %d s", calls-25*60)
	}
}
