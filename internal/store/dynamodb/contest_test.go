package dynamodb_test

import (
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/lipsync"
)

// TestLongQueue tells places in a queue with more requests than a survey reads. The older requests of the same account are counted
// exactly, and an account of which some are missing has the limit.
func TestLongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1_800_000_000, 0).UTC()
		s := openWire(t, &wire{takes: call})
		many := createWaiting(t, s, "a", 400, now.Add(-time.Hour))
		createWaiting(t, s, "b", 2, now.Add(-time.Minute))
		for _, ahead := range []int{0, 1, 210, 399} {
			r, err := s.Requests.ByID(t.Context(), many[ahead])
			if err != nil {
				t.Fatal(err)
			}
			contest, err := s.Leases.Contest(t.Context(), r, lipsync.Classes(), now, 1000)
			if err != nil || contest.Ahead != ahead {
				t.Errorf("got %d ahead (%v), want %d", contest.Ahead, err, ahead)
			}
			waiting := map[string]int{}
			for _, other := range contest.Accounts {
				waiting[other.Account] = other.Waiting
			}
			if waiting["a"] != 1000 || waiting["b"] != 2 {
				t.Errorf("got %v waiting, want the limit of a, and 2 of b", waiting)
			}
		}
	})
}

// TestSurveyLife tells many places in a short time. Only one of them may read the queue.
func TestSurveyLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1_800_000_000, 0).UTC()
		w := wire{takes: call}
		s := openWire(t, &w)
		s.Queue.SurveyLife = 2 * time.Second
		all := createWaiting(t, s, "a", 3, now.Add(-time.Hour))
		ahead := func(at time.Time) (n, calls int) {
			t.Helper()
			r, err := s.Requests.ByID(t.Context(), all[2])
			if err != nil {
				t.Fatal(err)
			}
			w.take()
			contest, err := s.Leases.Contest(t.Context(), r, lipsync.Classes(), at, 1000)
			if err != nil {
				t.Fatal(err)
			}
			return contest.Ahead, len(w.take())
		}
		if n, calls := ahead(now); n != 2 || calls < 16 {
			t.Errorf("first: got %d ahead in %d calls, want 2 in 16 or more", n, calls)
		}
		if _, err := s.Leases.Claim(t.Context(), all[0], "token", now, time.Minute, lipsync.Choice{}); err != nil {
			t.Fatal(err)
		}
		if n, calls := ahead(now.Add(1900 * time.Millisecond)); n != 2 || calls > 2 {
			t.Errorf("soon after: got %d ahead in %d calls, want 2 in 2 at most", n, calls)
		}
		for _, at := range []time.Time{now.Add(2 * time.Second), now.Add(-time.Second)} { // also of a clock that was set back
			if n, _ := ahead(at); n != 1 {
				t.Errorf("at %v: got %d ahead, want 1", at, n)
			}
		}
	})
}
