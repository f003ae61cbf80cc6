package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"lipsync/internal/disk"
	"lipsync/internal/lipsync"
)

// shortagePause is how long a worker waits at most after it found the disk full. Then
// it tries again even if there is no more space: with lipsync.MaxClaims tries a request
// that fits no disk ends in a day or so.
const shortagePause = time.Hour

// shortage is what a worker knows of a full disk.
type shortage struct {
	since time.Time
	free  int64 // bytes, once the attempt's files were gone: too few for it
}

// errFull ends an attempt whose request was given back since the disk was full.
var errFull = errors.New("the disk is full")

// giveBack releases a request that found the disk full, and has all workers of the
// process wait for space. On a full disk the record may not be written at once. It
// returns errFull once the request is released.
func (w *Worker) giveBack(ctx context.Context, r lipsync.Request, log *slog.Logger, cause error) error {
	w.full.Store(w.lack())
	log.Error("given back: the disk is full", "code", lipsync.HostFailing, "error", cause)
	for {
		report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
		err := w.Service.Release(report, r)
		cancel()
		switch {
		case err == nil:
			w.full.Store(w.lack()) // the record may have been written to a reserve
			return errFull
		case !lipsync.DiskFull(err) || !pause(ctx, Poll):
			return err
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

// awaitSpace waits until the disk has clearly more space than when it was found full,
// and reports whether ctx goes on.
func (w *Worker) awaitSpace(ctx context.Context) bool {
	for {
		s := w.full.Load()
		if s == nil {
			return ctx.Err() == nil
		}
		if free, err := disk.Free(w.Scratch); err == nil && s.over(free) {
			w.full.CompareAndSwap(s, nil)
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
