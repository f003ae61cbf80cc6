package worker_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/lipsync"
	"lipsync/internal/render"
)

// TestDiskFull finds the disk full more often than a request has attempts. None is
// spent, and between two tries the workers wait.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if tries++; tries <= 2*lipsync.MaxAttempts {
				return fmt.Errorf("encode: %w", syscall.ENOSPC)
			}
			return concatenate(ctx, j)
		})
		id, began := f.request(t, "video", "audio"), time.Now()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { f.Run(ctx, 2, nil); close(done) }()
		for !f.get(t, id).Status.Final() && time.Since(began) < 48*time.Hour {
			time.Sleep(time.Minute)
		}
		stop()
		<-done
		f.want(t, id, lipsync.Completed, "", 1)
		if took, least := time.Since(began), 2*lipsync.MaxAttempts*time.Hour; took < least {
			t.Errorf("took %v, want pauses of %v", took, least)
		}
	})
}

// TestReleaseOnFullDisk has the record of the release fail at first.
func TestReleaseOnFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(context.Context, render.Job) error { return syscall.ENOSPC })
		id := f.request(t, "video", "audio")
		f.Service.Store = &fullOnce{Store: f.Service.Store}
		if f.Do(t.Context(), "") {
			t.Error("got a request done, want nothing to do on a full disk")
		}
		f.want(t, id, lipsync.Processing, "", 0)
	})
}

// fullOnce is a store that finds the disk full at the first release.
type fullOnce struct {
	lipsync.Store
	called bool
}

func (s *fullOnce) Release(ctx context.Context, id, token string) error {
	if !s.called {
		s.called = true
		return lipsync.ErrNoSpace(syscall.ENOSPC)
	}
	return s.Store.Release(ctx, id, token)
}
