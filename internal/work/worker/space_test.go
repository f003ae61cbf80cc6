package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/transfer"
	"lipsync/internal/render"
)

// TestDiskFull finds the disk full more often than a request has attempts. No attempt may be
// spent, and the workers must wait between two tries.
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
		if took, least := time.Since(began), 2*lipsync.MaxAttempts*time.Minute; took < least {
			t.Errorf("took %v, want pauses of %v", took, least)
		}
	})
}

// TestFailingDisk makes the disk fail in ways for which the request is not to blame. No attempt may
// be spent, and other requests may not be delayed for long.
func TestFailingDisk(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, failure.ErrNoSpace(nil)} {
		synctest.Test(t, func(t *testing.T) {
			f := setup(t, func(ctx context.Context, j render.Job) error {
				if readAll(t, j.Video) == "large" {
					return &os.PathError{Op: "write", Path: j.Output, Err: fault}
				}
				return concatenate(ctx, j)
			})
			large := f.request(t, "large", "audio")
			var others []string
			for range 5 {
				others = append(others, f.request(t, "video", "audio"))
			}
			ctx, stop := context.WithTimeout(t.Context(), 6*time.Minute)
			defer stop()
			f.Run(ctx, 1, nil)
			for _, id := range others {
				f.want(t, id, lipsync.Completed, "", 1)
			}
			f.want(t, large, lipsync.Processing, "", 0)
		})
	}
}

// TestReportOnFailingDisk makes the database fail for longer than a lease when the end of an attempt
// is reported. However the attempt ended, it must not count as one whose worker died.
func TestReportOnFailingDisk(t *testing.T) {
	for name, c := range map[string]struct {
		ended, disk error
		attempts    int
	}{
		"full":        {syscall.ENOSPC, failure.ErrNoSpace(syscall.ENOSPC), 0},
		"fails":       {syscall.EIO, syscall.EIO, 0},
		"other fault": {errors.New("index out of range"), syscall.EIO, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := setup(t, func(context.Context, render.Job) error { return c.ended })
			id := f.request(t, "video", "audio")
			f.Service.Store.Leases = &broken{f.Service.Store.Leases, time.Now().Add(10 * time.Minute), c.disk}
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute+3*time.Second)
			defer stop()
			f.Run(ctx, 3, nil)
			f.want(t, id, lipsync.Processing, "", c.attempts)
			if r := f.get(t, id); r.Lease != "" || r.Claims != 1 {
				t.Errorf("%s: got lease %q after %d claims, want the request postponed after one", name, r.Lease, r.Claims)
			}
		})
	}
}

// broken is a store that can't be written for a while, after a request was claimed.
type broken struct {
	lipsync.Leases
	until time.Time
	fault error
}

func (s *broken) Change(ctx context.Context, id string, t lipsync.Transition) (lipsync.Request, error) {
	if time.Now().Before(s.until) {
		return lipsync.Request{}, s.fault
	}
	return s.Leases.Change(ctx, id, t)
}

// TestSilentDisk makes the disk fail while a request is held, so that the lease can't be renewed.
func TestSilentDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, j render.Job) error { <-ctx.Done(); return ctx.Err() })
		id := f.request(t, "video", "audio")
		f.Service.Store.Leases = &unrenewed{broken{f.Service.Store.Leases, time.Now().Add(5 * time.Minute), syscall.EIO}}
		if f.Do(t.Context(), "") {
			t.Error("got a request done, want nothing to do on a disk that fails")
		}
		f.want(t, id, lipsync.Processing, "", 0)
	})
}

// unrenewed is broken, and fails for leases too.
type unrenewed struct{ broken }

func (s *unrenewed) Renew(ctx context.Context, id, token string, until time.Time) error {
	if time.Now().Before(s.until) {
		return s.fault
	}
	return s.Leases.Renew(ctx, id, token, until)
}

// TestRoomForOutput renders outputs that fit, that fit once another one is finished, that never fit, and that are small. No worker stops for them.
func TestRoomForOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const free, all, gb = 100 << 30, 150 << 30, 1 << 30
		sizes := map[string]int64{"video-60": 60 * gb, "video-50": 50 * gb, "video-151": 151 * gb, "small": 1 << 20}
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if err := j.Space.Take(sizes[readAll(t, j.Video)]); err != nil {
				return err
			}
			if j.Space.Spare(1) {
				t.Error("the reserve was given to what only saves time")
			}
			time.Sleep(time.Minute)
			return concatenate(ctx, j)
		})
		f.Service.RoomToWork = func(size int64) error {
			switch {
			case size > all:
				return failure.ErrNoSpace(&transfer.TooSmall{Bytes: all})
			case size > free:
				return failure.ErrNoSpace(nil)
			}
			return nil
		}
		f.Service.Room = func(size int64) error { // the reserve is used
			if size > 0 {
				return failure.ErrNoSpace(nil)
			}
			return nil
		}
		first := f.request(t, "video-60", "a")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { f.Run(ctx, 2, nil); close(done) }()
		time.Sleep(time.Second) // until it has its room
		second, third := f.request(t, "video-50", "a"), f.request(t, "video-151", "a")
		time.Sleep(30 * time.Second)
		if r := f.get(t, second); r.Status != lipsync.Processing || r.Failure.Cause == "" {
			t.Errorf("beside another one: got %s, %+v, want it postponed with a reason", r.Status, r.Failure)
		}
		if r := f.get(t, third); r.Status != lipsync.Failed || r.Failure.Code != failure.DiskTooSmall || r.Failure.Value.Bytes != 151*gb || r.Failure.Limit.Bytes != all {
			t.Errorf("never: got %s, %+v", r.Status, r.Failure)
		}
		small := f.request(t, "small", "a")
		time.Sleep(10 * time.Minute)
		stop()
		<-done
		if r := f.get(t, small); r.Claims != 1 {
			t.Errorf("small files beside large ones: claimed %d times, want once", r.Claims)
		}
		f.want(t, first, lipsync.Completed, "", 1)
		f.want(t, second, lipsync.Completed, "", 1)
	})
}

// TestNoRoomToFetch has no space for the media of a request. Only that request waits.
func TestNoRoomToFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		var calls atomic.Int64
		f.Service.RoomToWork = func(int64) error {
			if calls.Add(1) == 1 {
				return failure.ErrNoSpace(nil)
			}
			return nil
		}
		f.request(t, "large", "audio")
		time.Sleep(time.Second) // so that it is claimed first
		other := f.request(t, "video", "audio")
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		f.Run(ctx, 1, nil)
		f.want(t, other, lipsync.Completed, "", 1)
	})
}

// TestRoomWhileSending sends an output for long. Its space is another one's meanwhile.
func TestRoomWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if err := j.Space.Take(60 << 30); err != nil {
				return err
			}
			return concatenate(ctx, j)
		})
		f.Service.RoomToWork = func(size int64) error {
			if size > 100<<30 {
				return failure.ErrNoSpace(nil)
			}
			return nil
		}
		web := &drip{takes: 30 * time.Minute}
		f.Config().Fetcher, f.Config().Sender = web, web
		_, err := f.Service.Generate(t.Context(), f.caller, requests.Params{
			Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}}, Order: order.Order{Output: order.Output{UploadURL: "http://web/out"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx, 1, nil) }()
		time.Sleep(10 * time.Second)
		id := f.request(t, "video", "audio")
		time.Sleep(20 * time.Second)
		if r := f.get(t, id); r.Status != lipsync.Completed {
			t.Errorf("beside an output that is sent, a request is %s", r.Status)
		}
		<-done
	})
}
