package lipsynctest

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// testCalls notes more calls of an account than are listed, and lets them expire.
func testCalls(t *testing.T, store lipsync.Store) {
	note := func(account string, c lipsync.Call) {
		t.Helper()
		must(t, store.Calls.Note(t.Context(), account, c))
	}
	want := func(account string, now time.Time, n int, newest string) {
		t.Helper()
		all, err := store.Calls.List(t.Context(), account, now)
		must(t, err)
		if len(all) != n || n > 0 && all[0].ID != newest {
			t.Errorf("%s: got %d calls, the newest %+v, want %d and %s", account, len(all), append(all, lipsync.Call{})[0], n, newest)
		}
		for i := range all[min(1, len(all)):] {
			if all[i].At.Before(all[i+1].At) {
				t.Fatalf("%s: call %d is older than the next", account, i)
			}
		}
	}
	full := lipsync.Call{At: at(1), ID: "full", Method: "POST", Route: "/r", Status: 402, Code: failure.TokenLimit, KeyID: "k", RequestID: "r"}
	note("a", full)
	want("b", at(2), 0, "")
	all, err := store.Calls.List(t.Context(), "a", at(2))
	must(t, err)
	if len(all) != 1 || all[0] != full {
		t.Errorf("got %+v, want %+v", all, full)
	}
	for i := range lipsync.MostCalls { // the first isn't listed any more
		note("a", lipsync.Call{At: at(2 + i), ID: fmt.Sprint(i), Method: "DELETE", Status: 200})
	}
	note("b", full)
	last := fmt.Sprint(lipsync.MostCalls - 1)
	want("a", at(2+lipsync.MostCalls), lipsync.MostCalls, last)
	want("a", at(2+lipsync.MostCalls-1).Add(lipsync.CallLife-time.Second), 1, last)
	want("a", at(2+lipsync.MostCalls).Add(lipsync.CallLife), 0, "")
	must(t, store.Calls.Expire(t.Context(), at(3)))
	for range 2 {
		more, err := store.Calls.Erase(t.Context(), "a")
		if more || err != nil {
			t.Errorf("more are left: %t (%v)", more, err)
		}
	}
	want("a", at(2+lipsync.MostCalls), 0, "")
	note("a", full)
	want("a", at(2), 1, "full")
}
