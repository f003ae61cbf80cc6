package worker

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestForgottenTurns has attempts of many accounts, one after the other, two of which wait for a server. Only turns of accounts that have attempts are
// kept, and one of claims.
func TestForgottenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newSlots(2)
		attempt := func(account string) *slot {
			s, err := all.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.give(account)
			return s
		}
		slow, same := attempt("slow"), attempt("slow")
		slow.wait()
		same.wait()
		time.Sleep(2 * grace)
		same.close()
		for n := range 1000 {
			attempt(fmt.Sprint(n)).close()
		}
		if _, known := all.last["slow"]; !known || len(all.last) != 2 {
			t.Errorf("%d turns are kept, want those of the account that waits and of claims", len(all.last))
		}
		if err := slow.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		slow.close()
		if len(all.last) != 1 {
			t.Errorf("%d turns are kept at the end, want that of claims", len(all.last))
		}
	})
}
