package queue_test

import (
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/check"
	simulated "lipsync/internal/test/simulate/table"
)

// TestSmallWorkers counts small workers from their start to their end, and forgets those that never begin or end.
func TestSmallWorkers(t *testing.T) {
	s, now := queue.On(table.On(simulated.New(simulated.Limits{}), "t")), time.Unix(1_800_000_000, 0).UTC()
	want := func(when string, after time.Duration, waiting, running int) {
		t.Helper()
		w, r, err := s.CountSmall(t.Context(), now.Add(after))
		check.Must(t, err)
		check.Want(t, when, [2]int{w, r}, [2]int{waiting, running})
	}
	want("none", 0, 0, 0)
	_, err := s.LockScaling(t.Context(), now, now.Add(time.Second)) // which has an item beside those of small workers
	check.Must(t, err)
	first, err := s.StartSmall(t.Context(), now, 5)
	check.Must(t, err)
	second, err := s.StartSmall(t.Context(), now.Add(10*time.Second), 2)
	check.Must(t, err)
	want("started", 10*time.Second, 7, 0)
	for _, start := range []string{first, first, first, second} {
		check.Must(t, s.BeginSmall(t.Context(), start))
	}
	want("some have begun", 11*time.Second, 3, 4)
	check.Must(t, s.EndSmall(t.Context(), first))
	if err := s.EndSmall(t.Context(), second); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"end": s.EndSmall(t.Context(), second), "begin": s.BeginSmall(t.Context(), "1/x")} {
		if failure.CodeOf(err) != failure.NotFound {
			t.Errorf("one %s too many: got %v, want not found", what, err)
		}
	}
	for range 2 {
		check.Must(t, s.BeginSmall(t.Context(), first))
	}
	if err := s.BeginSmall(t.Context(), first); failure.CodeOf(err) != failure.NotFound {
		t.Errorf("one begin too many: got %v, want not found", err)
	}
	want("all of the first have begun", 12*time.Second, 1, 4)
	want("those of the second that have not begun are lost", 76*time.Second, 0, 4)
	want("those of the first died", 16*time.Minute+time.Second, 0, 0)
}
