package batch

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestTry checks that a network that can't be run makes no queue.
func TestTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		ended, end := context.WithCancel(t.Context())
		end()
		for _, c := range []struct {
			name string
			ctx  context.Context
			run  func(ctx context.Context, c *goBinding) error
			want string
		}{
			{"fails", t.Context(), func(context.Context, *goBinding) error { return broken }, "the network can't be run: broken"},
			{"nobody waits for it", ended, wait, "context canceled"},
		} {
			q, err := New(c.ctx, inGo(Network{Most: 2, Runs: 1}, c.run), slog.New(slog.DiscardHandler))
			if err == nil {
				q.Close()
			}
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: got %v, want %s", c.name, err, c.want)
			}
		}
	})
}

// TestTryAsOften checks that a network is tried with as many runs at once as in jobs, and
// refused if the memory isn't enough for all of them.
func TestTryAsOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, m := errors.New("no memory"), Network{Most: 2, Runs: 3}
		for room, want := range map[int32]error{2: full, 3: nil} {
			var taken atomic.Int32
			q, err := New(t.Context(), inGo(m, func(ctx context.Context, _ *goBinding) error {
				defer taken.Add(-1)
				if taken.Add(1) > room {
					return full
				}
				time.Sleep(time.Second) // until the other runs began
				return nil
			}), slog.New(slog.DiscardHandler))
			if err == nil {
				err = q.Close()
			}
			if !errors.Is(err, want) {
				t.Errorf("room for %d of 3 runs: got %v, want %v", room, err, want)
			}
		}
	})
}

func wait(ctx context.Context, _ *goBinding) error {
	<-ctx.Done()
	return ctx.Err()
}
