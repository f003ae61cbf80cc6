package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/transfer"
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

// promised has the bytes of the disk that attempts may still write.
type promised struct {
	mu    sync.Mutex
	bytes int64
}

// all returns the bytes of all attempts.
func (p *promised) all() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// modest is the size in bytes up to which files need no space beside what others were promised, which may be long in coming. The files of a minute of
// 1080p take half of it.
const modest = 256 << 20

// Take promises space: the disk must have space for what is more than before, beside what others were promised. What those have written already
// counts twice meanwhile.
func (p *promise) Take(size int64) error {
	if err := p.Fits(size); err != nil {
		return err
	}
	p.w.promised.mu.Lock()
	defer p.w.promised.mu.Unlock()
	all := p.w.promised.bytes + size - p.bytes
	need := all
	if size <= modest {
		need = size
	}
	if size > p.bytes {
		if err := p.w.roomToWork(need); err != nil {
			return err
		}
	}
	p.w.promised.bytes, p.bytes = all, size
	return nil
}

func (p *promise) Fits(size int64) error {
	err := p.w.c.Work.RoomToWork(size)
	if small, ok := errors.AsType[*transfer.TooSmall](err); ok {
		f := failure.Failure{Code: failure.DiskTooSmall}
		f.Limit.Bytes, f.Value.Bytes = small.Bytes, size
		return f.Because(err)
	}
	return nil
}

// roomToWork returns HostFailing if the disk has no space for size bytes now. It doesn't count as a disk that fails, since it has space for other
// attempts.
func (w *Worker) roomToWork(size int64) error {
	err := w.c.Work.RoomToWork(size)
	if failure.CodeOf(err) != failure.NoSpace {
		return err
	}
	f := failure.Failure{Code: failure.HostFailing, Details: failure.Details{Cause: "the service has too little disk space for its files now"}}
	return f.Because(errors.New(err.Error()))
}

// Spare promises more space, if there is so much: the reserve stays free.
func (p *promise) Spare(size int64) bool {
	p.w.promised.mu.Lock()
	defer p.w.promised.mu.Unlock()
	if p.w.c.Work.Room(p.w.promised.bytes+size) != nil {
		return false
	}
	p.w.promised.bytes += size
	p.bytes += size
	return true
}

var _ render.Space = (*promise)(nil)

// end ends the promise. It may be called more than once.
func (p *promise) end() {
	p.w.promised.mu.Lock()
	defer p.w.promised.mu.Unlock()
	p.w.promised.bytes, p.bytes = p.w.promised.bytes-p.bytes, 0
}

// report reports the end of an attempt by service.Records. It tries until the store can be
// reached and written; otherwise the request would count as one whose worker died. While the disk
// fails, all workers of the process wait, so that none claims the request before.
func (w *Worker) report(ctx context.Context, r lipsync.Request, err error, took time.Duration) (failure.Failure, time.Time, error) {
	for {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
		f, again, reported := w.c.Work.Fault(last, r, err, took)
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
	free, err := disk.Free(w.c.Scratch)
	if err != nil {
		w.c.Log.Error("read free space", "error", err)
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
		if free, err := disk.Free(w.c.Scratch); err == nil && s.over(free) {
			w.failing.CompareAndSwap(s, nil)
			w.c.Log.Info("work continues", "free", free)
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
