package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestOnce has two requests need a value that takes a minute to open. One of them ends before, which doesn't end the opening for the other.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		o := newOnce(t.Context(), func(ctx context.Context) (int, error) {
			opened++
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(time.Minute):
				return 7, nil
			}
		})
		began := time.Now()
		first, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		time.AfterFunc(500*time.Millisecond, func() {
			if got, err := o.get(t.Context()); got != 7 || err != nil || time.Since(began) != time.Minute {
				t.Errorf("the second one got %d (%v) after %s, want 7 after a minute", got, err, time.Since(began))
			}
		})
		if _, err := o.get(first); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("the first one got %v after %s, want its end after a second", err, time.Since(began))
		}
		if got := o.opened(); got != 7 || opened != 1 {
			t.Errorf("got %d, opened %d times, want 7, opened once", got, opened)
		}
	})
}

// TestOnceFails has an opening fail, and one end with the job. The next use tries again.
func TestOnceFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, opened := errors.New("broken"), 0
		job, stop := context.WithCancel(t.Context())
		o := newOnce(job, func(ctx context.Context) (int, error) {
			if opened++; opened == 1 {
				return 0, broken
			}
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if got := o.opened(); got != 0 {
			t.Errorf("before the first use: got %d, want 0", got)
		}
		if _, err := o.get(t.Context()); err != broken {
			t.Errorf("got %v, want %v", err, broken)
		}
		time.AfterFunc(time.Second, stop)
		if _, err := o.get(t.Context()); !errors.Is(err, context.Canceled) || opened != 2 {
			t.Errorf("got %v of the opening %d, want that the second one ends with the job", err, opened)
		}
	})
}
