package worker

import (
	"context"
	"errors"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/render"
	"lipsync/internal/store/disk"
)

const (
	// shortagePause is the longest time that the workers of a process wait after one of them found
	// that the disk fails. Then they try another request, since only the last one may be too large
	// for the disk.
	shortagePause = time.Minute
	// reportPause is the time that a worker waits before it again reports the end of an attempt to
	// a store that could not be reached or written. It is shorter than Poll, so that no other
	// waiting worker claims the request before.
	reportPause = time.Second
)

// shortage describes a disk that fails.
type shortage struct {
	since time.Time
	free  int64 // bytes, after the attempt's files were deleted: too few for the attempt
}

// errDisk ends an attempt whose request was postponed because the disk failed.
var errDisk = errors.New("the disk fails")

// promise is the space on the disk that an attempt may use, as a render.Space.
type promise struct {
	w     *Worker
	bytes int64
}

// modest is the size in bytes up to which files need no space beside what others were promised, which may be long in coming. The files of a minute of
// 1080p take half of it.
const modest = 256 << 20

// Take implements render.Space: the disk must have space beside what others were promised. What those have written already counts twice meanwhile.
func (p *promise) Take(size int64) error {
	all := p.w.promised.Add(size - p.bytes)
	if size <= modest {
		all = size
	}
	err := p.w.Service.RoomToWork(all)
	if small, ok := errors.AsType[*lipsync.TooSmall](err); ok && size > small.Bytes {
		f := failure.Failure{Code: failure.DiskTooSmall}
		f.Limit.Bytes, f.Value.Bytes = small.Bytes, size
		err = f.Because(err)
	} else if failure.CodeOf(err) == failure.NoSpace { // the disk has space for other attempts
		f := failure.Failure{Code: failure.HostFailing, Details: failure.Details{Cause: "the service has too little disk space for its files now"}}
		err = f.Because(errors.New(err.Error()))
	}
	if err != nil {
		p.w.promised.Add(p.bytes - size)
		return err
	}
	p.bytes = size
	return nil
}

// Spare implements render.Space: the reserve stays free.
func (p *promise) Spare(size int64) bool {
	if p.w.Service.Room(p.w.promised.Load()+size) != nil {
		return false
	}
	p.w.promised.Add(size)
	p.bytes += size
	return true
}

var _ render.Space = (*promise)(nil)

func (p *promise) end() { p.w.promised.Add(-p.bytes) }

// report reports the end of an attempt by service.Service.Fault. It tries until the store can be
// reached and written; otherwise the request would count as one whose worker died. While the disk
// fails, all workers of the process wait, so that none claims the request before.
func (w *Worker) report(ctx context.Context, r lipsync.Request, err error, took time.Duration) (failure.Failure, time.Time, error) {
	for {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
		f, again, reported := w.Service.Fault(last, r, err, took)
		unreached := reported != nil && last.Err() != nil || failure.Of(reported).Code == failure.HostFailing
		cancel()
		if failure.DiskFails(reported) {
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
		w.Log.Error("read free space", "error", err)
	}
	return &shortage{time.Now(), free}
}

// awaitDisk waits while the disk counts as failing: see over. It reports whether ctx has not ended.
func (w *Worker) awaitDisk(ctx context.Context) bool {
	for {
		s := w.failing.Load()
		if s == nil {
			return ctx.Err() == nil
		}
		if free, err := disk.Free(w.Scratch); err == nil && s.over(free) {
			w.failing.CompareAndSwap(s, nil)
			w.Log.Info("work continues", "free", free)
		} else if !pause(ctx, Poll) {
			return false
		}
	}
}

// over reports whether another attempt is worthwhile: shortagePause is over, or the disk has 1.5
// times the space that was free after the failure, and 8 MiB more.
func (s *shortage) over(free int64) bool {
	return free >= s.free+s.free/2+8<<20 || time.Since(s.since) >= shortagePause
}
