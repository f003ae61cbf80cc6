package table

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// together makes n creates of one account at once, and returns how many failed.
func together(t *testing.T, table *Table, n int) (failed int) {
	s := dynamodb.On(table, "t")
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r := lipsync.Request{ID: id(i), Account: "a", Status: lipsync.Queued, CreatedAt: time.Now()}
			if _, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{Open: 1000}); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed++
			}
		})
	}
	all.Wait()
	_, total, err := s.Requests.List(t.Context(), "a", "", 0, 1)
	if err != nil || total != int64(n-failed) {
		t.Errorf("got %d requests (%v), want %d", total, err, n-failed)
	}
	return failed
}

// TestLimits checks that too high a load is throttled and that conflicts are counted. The client
// must overcome both, unless a partition allows next to nothing.
func TestLimits(t *testing.T) {
	aws := Limits{Call: 8 * time.Millisecond, Transaction: 12 * time.Millisecond, Lag: 30 * time.Millisecond}
	tight, young, lossy := aws, aws, aws
	tight.PartitionWrites = 32
	young.TableWrites, young.StartWrites = 40_000, 300
	lossy.Lost = .1
	for name, c := range map[string]struct {
		limits    Limits
		throttles bool
	}{"none": {aws, false}, "partitions": {tight, true}, "a new table": {young, true}, "lost answers": {lossy, false}} {
		synctest.Test(t, func(t *testing.T) {
			table := New(c.limits)
			if failed := together(t, table, 100); failed > 0 && c.limits.PartitionWrites == 0 {
				t.Errorf("%s: %d creates failed", name, failed)
			}
			if count := table.Count(); count.Throttled > 0 != c.throttles || count.Conflicts == 0 {
				t.Errorf("%s: got %d throttled and %d conflicts", name, count.Throttled, count.Conflicts)
			}
			for _, p := range table.Partitions() {
				if most := c.limits.PartitionWrites; most > 0 && p.Writes > most {
					t.Errorf("%s: %s took %v units in a second", name, p.Name, p.Writes)
				}
			}
		})
	}
}

// TestRefusedWrites checks that a write whose condition fails costs its partition a unit, and
// writes no item.
func TestRefusedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := New(Limits{})
		s := dynamodb.On(table, "t")
		for range 4 {
			if _, err := s.Rates.Take(t.Context(), "k", 1, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		// The first call is refused and then begins the minute; three more are refused.
		if p := table.Partitions()[0]; p.Writes != 5 || p.Items != 1 || table.Count().WriteUnits != 5 {
			t.Errorf("got %v units and %d items, and %v units in all; want 5, 1 and 5", p.Writes, p.Items, table.Count().WriteUnits)
		}
	})
}

// TestCapacity checks that a table on demand allows twice its highest load before the last half
// hour.
func TestCapacity(t *testing.T) {
	l := Limits{TableWrites: 1000, StartWrites: 100}
	var c capacity
	for _, step := range []struct {
		second int64
		units  float64
		want   bool
	}{{0, 100, true}, {0, 1, false}, {1, 90, true}, {halfHour, 200, true}, {halfHour, 1, false}, {2 * halfHour, 400, true}, {3 * halfHour, 800, true}, {4 * halfHour, 1001, false}} {
		got := c.fits(l, step.second, step.units)
		if got {
			c.add(step.units)
		}
		if got != step.want {
			t.Errorf("second %d, %v units: got %v, want %v", step.second, step.units, got, step.want)
		}
	}
}

// TestHolds compares the answers and the cost of Holds with those of the store.
func TestHolds(t *testing.T) {
	table := New(Limits{})
	s := dynamodb.On(table, "t")
	r := lipsync.Request{ID: id(1), Account: "a", Status: lipsync.Queued, CreatedAt: time.Now()}
	if _, _, err := s.Requests.Create(context.Background(), r, nil, nil, lipsync.Limits{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Leases.Claim(t.Context(), "", "token", time.Now(), time.Minute, lipsync.Choice{}); err != nil {
		t.Fatal(err)
	}
	before := table.Count()
	if !table.Holds(r.ID, "token", true) || !table.Holds(r.ID, "token", false) || table.Holds(r.ID, "other", true) || table.Holds(id(2), "token", true) {
		t.Error("got a wrong answer")
	}
	after := table.Count()
	if err := s.Leases.Report(t.Context(), r.ID, "token", lipsync.Progress{Percent: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Requests.ByID(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	real := table.Count()
	if got, want := after.WriteUnits-before.WriteUnits, real.WriteUnits-after.WriteUnits; got != want {
		t.Errorf("got %v units written, want %v as the store's report", got, want)
	}
	if got, want := after.ReadUnits-before.ReadUnits, real.ReadUnits-after.ReadUnits; got != want {
		t.Errorf("got %v units read, want %v as the store's read", got, want)
	}
	if _, err := lipsynctest.Cancel(t.Context(), s.Leases, r.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	if table.Holds(r.ID, "token", true) {
		t.Error("an ended lease is still held")
	}
}
