package simulate_test

import (
	"testing"
	"time"

	"lipsync/internal/test/simulate"
)

// quiet returns a plan in which only a burst comes, within two seconds, to a stack without any worker.
func quiet(burst int) simulate.Plan {
	p := simulate.Day(0, *seed)
	p.From, p.Length, p.BurstAt, p.BurstFor, p.Burst, p.Canceled = time.Hour, time.Minute, time.Hour, 2*time.Second, burst, 0
	p.Neural.Share = 0
	return p
}

// TestOne has a request of 10 s of video each minute, and each has a new environment. Half are done within 7 s, all within 8.5: 2.5 s until a call has
// started and claimed it, .5 s to fetch, 2.3 to 4.3 s to render, and .3 s to store.
func TestOne(t *testing.T) {
	p := quiet(30)
	p.Length, p.BurstFor = 30*time.Minute, 30*time.Minute
	p.Small.Render /= 3 // 10 s instead of 30
	p.Small.Idle = 0
	r := run(t, p)
	if r.DoneBurst.All == 0 || r.Completed != r.Jobs || r.DoneBurst.Half > 7*time.Second || r.DoneBurst.All > 8500*time.Millisecond {
		t.Errorf("%d of %d are done, after %v; want half within 7 s, and all within 8.5 s", r.Completed, r.Jobs, r.DoneBurst)
	}
	if len(r.Hours) != 1 || r.Hours[0].Jobs != r.Jobs || r.Hours[0].Utilisation() != 0 {
		t.Errorf("got the hours %+v, want one with all requests, without instances", r.Hours)
	}
}

// TestUploaded has a request of 10 s of video in three minutes on average, whose media are sent first: 3 MB at 20 Mbit/s, the upload speed of broadband by the FCC's
// definition of 2024. Environments are kept for a minute. One starts while the media are sent, so all are done within 8 s of the request.
func TestUploaded(t *testing.T) {
	p := quiet(30)
	p.Length, p.BurstFor = 90*time.Minute, 90*time.Minute
	p.Small.Render /= 3 // 10 s instead of 30
	p.Small.Idle, p.Sent = time.Minute, 1200*time.Millisecond
	r := run(t, p)
	if r.DoneBurst.All == 0 || r.Completed != r.Jobs || r.DoneBurst.Half > 5500*time.Millisecond || r.DoneBurst.All > 8*time.Second {
		t.Errorf("%d of %d are done, after %v; want half within 5.5 s, and all within 8 s", r.Completed, r.Jobs, r.DoneBurst)
	}
}

// TestNetworks has 40 requests of networks at once. As many runners with a GPU start as if each request took a minute; all requests start within ten
// minutes and are done, and the other pools start nothing.
func TestNetworks(t *testing.T) {
	p := quiet(40)
	p.Neural.Share = 1
	r := run(t, p)
	if r.Completed != r.Jobs || r.StartNeural.All == 0 || r.StartNeural.All > 10*time.Minute {
		t.Errorf("%d of %d are done, and the last starts after %v; want all done, started within ten minutes", r.Completed, r.Jobs, r.StartNeural)
	}
	if r.Runners > 0 || r.Small > 0 {
		t.Errorf("%d runners without a GPU and %d small workers started, want none", r.Runners, r.Small)
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
