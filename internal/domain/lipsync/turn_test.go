package lipsync_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

// TestTurn chooses among accounts in any order.
func TestTurn(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(1_800_000_000+second, 0) }
	held := func(n int) []lipsync.Hold { return make([]lipsync.Hold, n) }
	few := lipsync.Standing{Account: "few leases", Waiting: 1, Held: held(1), Claimed: at(9), Oldest: "9"}
	more := lipsync.Standing{Account: "more leases", Waiting: 9, Held: held(2), Oldest: "1"}
	idle := lipsync.Standing{Account: "nothing waits", Oldest: ""}
	long := lipsync.Standing{Account: "last claim long ago", Waiting: 1, Held: held(1), Claimed: at(1), Oldest: "9"}
	never := lipsync.Standing{Account: "no claim known", Waiting: 1, Held: held(1), Oldest: "8"}
	older := lipsync.Standing{Account: "older request", Waiting: 1, Held: held(1), Oldest: "7"}
	for _, c := range []struct {
		all        []lipsync.Standing
		next       string
		contenders []string
	}{
		{nil, "", nil},
		{[]lipsync.Standing{idle}, "", nil},
		{[]lipsync.Standing{idle, more}, more.Account, []string{more.Account}},
		{[]lipsync.Standing{more, few, idle}, few.Account, []string{few.Account}},
		{[]lipsync.Standing{few, more, long}, long.Account, []string{few.Account, long.Account}},
		{[]lipsync.Standing{few, never, long}, never.Account, []string{few.Account, long.Account, never.Account}},
		{[]lipsync.Standing{never, older, few}, older.Account, []string{few.Account, never.Account, older.Account}},
	} {
		for range 2 {
			i, ok := lipsync.Turn(c.all)
			if next := (c.next != ""); ok != next || ok && c.all[i].Account != c.next {
				t.Errorf("%+v: got %d, %t, want %q", c.all, i, ok, c.next)
			}
			var got []string
			for _, s := range lipsync.Contenders(c.all) {
				got = append(got, s.Account)
			}
			slices.Sort(got)
			slices.Sort(c.contenders)
			check.Want(t, "contenders", fmt.Sprint(got), fmt.Sprint(c.contenders))
			slices.Reverse(c.all)
		}
	}
}
