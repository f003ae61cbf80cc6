package simulate_test

import (
	"testing"
	"time"

	"lipsync/internal/test/simulate"
)

// quiet returns a plan in which only a burst comes, within two seconds, to a stack without any worker.
func quiet(burst int) simulate.Plan {
	p := simulate.Day(0, 1)
	p.From, p.Length, p.BurstAt, p.BurstFor, p.Burst, p.Canceled = time.Hour, time.Minute, time.Hour, 2*time.Second, burst, 0
	return p
}

// TestOne has a few requests on an idle stack. Each is done within 10 s, with its 10 s of video: 3.5 s until a
// call has started, on a cold environment, 1 s to fetch, 3.3 s to render.
func TestOne(t *testing.T) {
	p := quiet(3)
	p.Small.Render /= 3 // 10 s instead of 30
	r := run(t, p)
	if r.DoneBurst.All == 0 || r.Completed != r.Jobs || r.DoneBurst.All > 10*time.Second {
		t.Errorf("%d of %d are done, after %v; want all within 10 s", r.Completed, r.Jobs, r.DoneBurst)
	}
}

// TestBurst_long has 1000 requests of 30 s at once. All are done within a minute, and no runner starts for them.
func TestBurst_long(t *testing.T) {
	r := run(t, quiet(1000))
	if r.Jobs < 900 || r.DoneBurst.All == 0 || r.Completed != r.Jobs || r.DoneBurst.All > time.Minute {
		t.Errorf("%d of %d are done, after %v; want all within a minute", r.Completed, r.Jobs, r.DoneBurst)
	}
	if r.Runners > 0 {
		t.Errorf("%d runners started, want none", r.Runners)
	}
}
