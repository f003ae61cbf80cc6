package service_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
)

// TestSpeed fits times of requests that take a time each, and one for each pixel, with errors of a fifth.
func TestSpeed(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		fixed, each float64 // seconds; seconds for each thousand pixels
		most        float64 // largest size as a multiple of the smallest
	}{
		"both":          {3, 1e-5, 100},
		"only pixels":   {0, 1e-5, 100},
		"only requests": {3, 0, 100},
		"equal sizes":   {3, 1e-5, 1},
	} {
		var s lipsync.Speed
		check.Want(t, name+": nothing known", s.Time(1000), 0)
		sizes := func(share float64) float64 { return 100_000 * math.Pow(c.most, share) }
		for range 100 {
			size := sizes(dice.Float64())
			took := (c.fixed + c.each*size) * (.8 + .4*dice.Float64())
			s = s.Plus(lipsync.NewSpeed(int64(size), time.Duration(took*float64(time.Second))))
		}
		for _, share := range []float64{0, .5, 1} {
			size := sizes(share)
			expected := c.fixed + c.each*size
			if got := s.Time(int64(size)).Seconds(); got < .75*expected || got > 1.25*expected {
				t.Errorf("%s: got %.2f s for %.0f, want %.2f s", name, got, size, expected)
			}
		}
	}
	if got := lipsync.NewSpeed(1000, time.Second).Time(2000); got != 2*time.Second {
		t.Errorf("got %s for twice the only size, want 2 s", got)
	}
	if got := lipsync.NewSpeed(0, time.Second).Time(0); got < 0 || got > time.Second {
		t.Errorf("got %s without pixels", got)
	}
}

// TestPlaceOfPool has a queue whose workers are in a pool, and starting.
func TestPlaceOfPool(t *testing.T) {
	f := newFixture(t)
	f.Pooled, f.Workers = true, 10
	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, time.Minute))
	place := func(what, id string, wanted service.Place) {
		t.Helper()
		_, _, got, err := f.Progress(t.Context(), f.caller, id)
		check.Must(t, err)
		check.Want(t, what, got, wanted)
	}
	first, second := f.generate(t, ""), f.generate(t, "")
	place("first", first, service.Place{Position: 1, Left: 4 * time.Minute})
	place("second, by the same worker", second, service.Place{Position: 2, Left: 5 * time.Minute})
	f.clock.Advance(2 * time.Minute)
	place("later", first, service.Place{Position: 1, Left: 2 * time.Minute})
	f.clock.Advance(time.Minute)
	place("when no worker came", first, service.Place{Position: 1})
	_, err := f.Claim(t.Context(), first)
	check.Must(t, err)
	place("claimed", first, service.Place{})
	place("while one worker is busy", second, service.Place{Position: 1, Left: 2 * time.Minute})
	f.clock.Advance(20 * time.Second)
	place("later", second, service.Place{Position: 1, Left: 100 * time.Second})
	for range 8 {
		f.generate(t, "")
	}
	last := f.generate(t, "")
	place("by more workers", last, service.Place{Position: 10, Left: 5 * time.Minute})
}

// TestPlaceApart has requests of both classes, whose workers are in pools of their own. Neither class counts those of the other, nor their times.
func TestPlaceApart(t *testing.T) {
	f := newFixture(t)
	f.Pooled, f.Workers, f.SmallWorkers = true, 10, 1
	f.Engines = []string{"warp", "wav2lip"}
	for range 100 { // far more than large ones
		check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, 10*time.Second))
	}
	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "wav2lip", Class: lipsync.Neural}, 1000, time.Hour))
	made := func(engine string) (id string) {
		p := urls()
		p.Engine = engine
		id, err := f.Generate(t.Context(), f.caller, p)
		check.Must(t, err)
		return id
	}
	place := func(what, id string, wanted service.Place) {
		t.Helper()
		_, _, got, err := f.Progress(t.Context(), f.caller, id)
		check.Must(t, err)
		check.Want(t, what, got, wanted)
	}
	var all [2][]string // by class
	for range 3 {
		all[0], all[1] = append(all[0], made("warp")), append(all[1], made("wav2lip"))
	}
	place("the first small one", all[0][0], service.Place{Position: 1, Left: 12 * time.Second})
	place("the third small one", all[0][2], service.Place{Position: 3, Left: 32 * time.Second})
	place("the first large one", all[1][0], service.Place{Position: 1, Left: time.Hour + service.StartTime})
	place("the third large one", all[1][2], service.Place{Position: 3, Left: time.Hour + service.StartTime})
	for _, of := range all {
		_, err := f.Claim(t.Context(), of[0])
		check.Must(t, err)
	}
	f.clock.Advance(3 * time.Second)
	place("a small one behind one that is held", all[0][1], service.Place{Position: 1, Left: 17 * time.Second})
	place("a large one, which other runners do", all[1][1], service.Place{Position: 1, Left: time.Hour + service.StartTime - 3*time.Second})
}

// TestPlaceNeural has requests that runners with a GPU do, four at once, and others.
func TestPlaceNeural(t *testing.T) {
	f := newFixture(t)
	f.Pooled, f.Workers, f.NeuralWorkers, f.Engines = true, 10, 2, []string{"wav2lip", "warp"}
	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "wav2lip", Class: lipsync.Neural}, 1000, 4*time.Minute))
	check.Must(t, f.NoteSpeed(t.Context(), lipsync.Request{Engine: "warp"}, 1000, 10*time.Second))
	var ids []string
	for range 10 {
		ids = append(ids, f.generate(t, ""))
	}
	p := urls()
	p.Engine = "warp"
	other, err := f.Generate(t.Context(), f.caller, p)
	check.Must(t, err)
	place := func(what, id string, wanted service.Place) {
		t.Helper()
		_, _, got, err := f.Progress(t.Context(), f.caller, id)
		check.Must(t, err)
		check.Want(t, what, got, wanted)
	}
	place("the first", ids[0], service.Place{Position: 1, Left: service.StartTime + 4*time.Minute})
	place("one of a second runner", ids[4], service.Place{Position: 5, Left: service.StartTime + 4*time.Minute})
	place("one behind all that two runners do at once", ids[8], service.Place{Position: 9, Left: service.StartTime + 8*time.Minute})
	place("one of another pool", other, service.Place{Position: 1, Left: service.StartTime + 10*time.Second})
	_, err = f.Claim(t.Context(), ids[0])
	check.Must(t, err)
	place("one that a runner has room for", ids[1], service.Place{Position: 1, Left: 4 * time.Minute})
}

// busyContest is a store that is too busy to tell who is next.
type busyContest struct{ lipsync.Leases }

func (busyContest) Contest(context.Context, lipsync.Request, []lipsync.Class, time.Time, int) (lipsync.Contest, error) {
	return lipsync.Contest{}, &failure.Error{Code: failure.Unavailable}
}

// TestBusyContest reads the progress of a request while the store is too busy to tell its place.
func TestBusyContest(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	f.Store.Leases = busyContest{f.Store.Leases}
	r, _, place, err := f.Progress(t.Context(), f.caller, id)
	if err != nil || r.ID != id || place != (service.Place{}) {
		t.Errorf("got %s at %+v (%v), want it without a place", r.ID, place, err)
	}
}
