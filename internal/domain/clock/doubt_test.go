package clock_test

import (
	"testing"
	"time"

	"lipsync/internal/domain/clock"
)

func TestDoubt(t *testing.T) {
	const day = 24 * time.Hour
	var now time.Time
	var elapsed time.Duration
	var warned []time.Duration
	newest := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	d := &clock.Doubt{
		Now: func() time.Time { return now }, Elapsed: func() time.Duration { return elapsed }, Newest: newest,
		Warn: func(ahead time.Duration) { warned = append(warned, ahead) },
	}
	for _, step := range []struct {
		name    string
		passes  time.Duration // of the process
		ahead   time.Duration // of the clock, after newest
		trusted bool
		warned  int
	}{
		{"ahead at the start", 0, 40 * day, false, 1},
		{"still ahead", 59 * time.Minute, 40*day + 59*time.Minute, false, 1},
		{"corrected", time.Minute, time.Hour, true, 1},
		{"an hour later", time.Hour, 2 * time.Hour, true, 1},
		{"a day later", day, day + 2*time.Hour, true, 1},
		{"set forward while it runs", time.Minute, 9 * day, false, 2},
		{"an hour later, so it may be right", time.Hour, 9*day + time.Hour, true, 2},
		{"and from then on", time.Hour, 9*day + 2*time.Hour, true, 2},
		{"set back", time.Minute, day, true, 2},
		{"set forward again", time.Minute, 9 * day, false, 3},
	} {
		elapsed += step.passes
		now = newest.Add(step.ahead)
		if trusted := d.Trusted(); trusted != step.trusted || len(warned) != step.warned {
			t.Errorf("%s: got trusted=%t after %d warnings, want %t after %d", step.name, trusted, len(warned), step.trusted, step.warned)
		}
	}
	if warned[0] != 40*day {
		t.Errorf("got a first warning of %v, want %v", warned[0], 40*day)
	}
	d = &clock.Doubt{Now: func() time.Time { return newest }, Elapsed: func() time.Duration { return 0 }}
	if !d.Trusted() {
		t.Error("the clock of a new database is doubted")
	}
}
