package worker

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/disk"
	"lipsync/internal/lipsync"
)

const (
	// shortagePause is how long the workers of a process wait at most after one of them
	// found that the disk fails. Then they try another request: it may be that only the last
	// one is too large for the disk.
	shortagePause = time.Minute
	// reportPause is how long a worker waits before it tells a store that can't be reached or
	// written once more how an attempt ended: less than Poll, so that another worker that has
	// waited too doesn't take the request before.
	reportPause = time.Second
)

// shortage is what a worker knows of a disk that fails.
type shortage struct {
	since time.Time
	free  int64 // bytes, once the attempt's files were gone: too few for it
}

// errDisk ends an attempt whose request was put off since the disk failed.
var errDisk = errors.New("the disk fails")

// report tells the service how an attempt ended, as lipsync.Service.Fault does, for as long
// as it takes until the store can be reached and written: else the request would count as
// one whose worker died. While the disk fails, all workers of the process wait, so that none
// takes it before.
func (w *Worker) report(ctx context.Context, r lipsync.Request, err error, took time.Duration) (lipsync.Failure, time.Time, error) {
	for {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
		f, again, reported := w.Service.Fault(last, r, err, took)
		unreached := reported != nil && last.Err() != nil || lipsync.FailureOf(reported).Code == lipsync.HostFailing
		cancel()
		if lipsync.DiskFails(reported) {
			w.failing.Store(w.lack())
		}
		if !unreached || !pause(ctx, reportPause) {
			return f, again, reported
		}
	}
}

// lack returns a shortage that begins now.
func (w *Worker) lack() *shortage {
	free, err := disk.Free(w.Scratch)
	if err != nil {
		w.Log.Error("look for space", "error", err)
	}
	return &shortage{time.Now(), free}
}

// awaitDisk waits after the disk failed until it has clearly more space, or for a while,
// and reports whether ctx goes on.
func (w *Worker) awaitDisk(ctx context.Context) bool {
	for {
		s := w.failing.Load()
		if s == nil {
			return ctx.Err() == nil
		}
		if free, err := disk.Free(w.Scratch); err == nil && s.over(free) {
			w.failing.CompareAndSwap(s, nil)
			w.Log.Info("work goes on", "free", free)
		} else if !pause(ctx, Poll) {
			return false
		}
	}
}

// over reports whether it is worth another try. Half as much again as an attempt had
// to itself is a good deal for a large one, 8 MiB for a small one.
func (s *shortage) over(free int64) bool {
	return free >= s.free+s.free/2+8<<20 || time.Since(s.since) >= shortagePause
}
