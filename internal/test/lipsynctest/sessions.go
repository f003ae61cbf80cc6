package lipsynctest

import (
	"context"
	"testing"
)

// Sessions is dashboard.Sessions.
type Sessions interface {
	Generation(ctx context.Context, account string) (string, error)
	EndAll(ctx context.Context, account string) error
}

// TestSessions ends sessions several times, and checks that another process sees each end at once.
// open opens the same sessions each time.
func TestSessions(t *testing.T, open func() Sessions) {
	here, there := open(), open()
	seen := map[string]bool{}
	for range 3 {
		g, err := there.Generation(t.Context(), "a")
		if err != nil || seen[g] || (g == "") != (len(seen) == 0) {
			t.Fatalf("got generation %q after %d others (%v)", g, len(seen), err)
		}
		if again, err := here.Generation(t.Context(), "a"); err != nil || again != g {
			t.Errorf("got generation %q, then %q (%v)", g, again, err)
		}
		seen[g] = true
		if err := here.EndAll(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	for _, account := range []string{"b", "", "a/b", "../a", "a\x00", "ü"} {
		if g, err := there.Generation(t.Context(), account); err != nil || g != "" {
			t.Errorf("account %q: got %q (%v), want none", account, g, err)
		}
	}
}
