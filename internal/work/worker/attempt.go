package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/render"
)

// reportTime bounds the last report to the store when the worker itself must stop.
const reportTime = 5 * time.Second

// ErrEnlarged means that a worker, which does only small requests, gave one back as a large one.
var ErrEnlarged = errors.New("given back as a large request")

// do makes one attempt at a claimed request, and reports how it ended. If nothing could be
// reported, it returns an error: Conflict if the request belongs to another worker now. ErrEnlarged reports that it gave the request back.
func (w *Worker) do(ctx context.Context, r lipsync.Request, p *slot, log *slog.Logger) error {
	m, started := new(meter), time.Now()
	held, drop := w.hold(ctx, r, m, log)
	bounded, b := w.bound(held, p)
	r, err := w.attempt(bounded, r, m, b, log)
	if cause := context.Cause(bounded); err != nil && (cause == errSlow || cause == errTooSlow) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	large := err != nil && w.tooLarge(context.Cause(bounded), err)
	b.close()
	why := context.Cause(held)
	drop()

	report, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	switch {
	case err == nil:
		log.Info("completed")
		return nil
	case errors.Is(why, errSilent):
		return w.fault(ctx, r, why, time.Since(started), log)
	case why == lipsync.ErrLost, failure.CodeOf(err) == failure.Conflict, failure.CodeOf(w.c.Work.Held(report, r)) == failure.Conflict:
		// The last condition finds a request that was canceled: its inputs were deleted, so the
		// attempt failed before it noticed the cancel.
		return lipsync.ErrLost
	case large:
		log.Info("released as a large one", "error", err)
		return cmp.Or(w.c.Work.Enlarge(report, r), ErrEnlarged)
	case ctx.Err() != nil:
		log.Info("released", "error", err)
		return w.c.Work.Release(report, r)
	default:
		return w.fault(ctx, r, err, time.Since(started), log)
	}
}

// tooLarge reports whether an attempt failed because the request is too large for a worker that does only small ones. cause is why its context
// ended, if it did.
func (w *Worker) tooLarge(cause, err error) bool {
	return w.c.Work.Duty == lipsync.DoesSmall && (cause == errSlow || cause == errTooBig || errors.Is(err, errTooBig) || failure.DiskFails(err))
}

// fault reports that an attempt ended with err, after the time took. It returns an error if the
// service is at fault and will make another attempt: errDisk if the disk fails.
func (w *Worker) fault(ctx context.Context, r lipsync.Request, err error, took time.Duration, log *slog.Logger) error {
	disk := failure.DiskFails(err) && failure.Of(err).Code == failure.HostFailing
	if disk {
		w.failing.Store(w.lack())
	}
	f, again, reported := w.report(ctx, r, err, took)
	log = log.With("code", f.Code, "class", f.Code.Class(), "error", err)
	switch {
	case reported != nil:
		return errors.Join(reported, err)
	case again.IsZero() && f.Code.Class() == failure.OfInput:
		log.Info("failed")
	case again.IsZero():
		log.Error("failed")
	case disk:
		w.failing.Store(w.lack()) // the record may have been written to the reserve
		log.Error("postponed: the disk is full or fails", "until", again)
		return errDisk
	default:
		log.Warn("postponed", "until", again)
		if f.Code.Class() == failure.OfOurs {
			return err
		}
	}
	return nil
}

// attempt fetches the media, renders, analyses or inspects them, and stores the result. It keeps all its files in
// one folder, which it removes. It returns the request with the lengths of its media, as far as they are known.
func (w *Worker) attempt(ctx context.Context, claimed lipsync.Request, m *meter, b *bound, log *slog.Logger) (r lipsync.Request, err error) {
	r = claimed
	began := time.Now()
	w.c.Claimed()
	folder, err := os.MkdirTemp(w.c.Scratch, "request-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	defer recovered(&err)
	m.enter(order.Fetching)
	b.wait()
	job, errs := w.fetchAll(ctx, r, folder, b)
	if errs != nil && !r.IsEstimate() { // no reason to wait for the slot
		return r, errs[0]
	}
	if err := b.enter(ctx); err != nil {
		return r, err
	}
	job.Space, job.Stored = &b.promise, w.c.Stores
	if r.IsEstimate() {
		return r, w.estimate(ctx, r, job, errs, m, b)
	}
	o := newObserver(r, m, b, log)
	if r.IsAnalysis() {
		return w.analyse(ctx, r, job.Video, o)
	}
	if w.c.Work.KeepsFindings() {
		job.Findings = &findings{w.c.Work, r, job.Sums[0], log}
	}
	job.Pieces, job.PieceTime = &pieces{w.c.Work, r, log}, w.c.PieceTime
	started := time.Now()
	made, err := w.c.Renderer.Render(ctx, job, o)
	r.VideoLength, r.AudioLength = made.VideoLength.Truncate(time.Microsecond), made.AudioLength.Truncate(time.Microsecond)
	if err != nil {
		return r, Described(err, job)
	}
	r.Length, r.Frames, r.Unsynced, r.Warnings, r.Sync = made.Length.Truncate(time.Microsecond), made.Frames, made.Unsynced, made.Warnings, made.Sync
	log.Info("rendered", "findings_used", made.Reused.Findings, "frames_reused", made.Reused.Frames, "of", made.Frames.Total)
	w.c.Rendered(made.Length, time.Since(started))
	if r, err = w.store(ctx, r, job.Output, made, m, b, log); err != nil {
		return r, err
	}
	if made.Reused == (render.Reused{}) && !made.Again { // nothing of the work was done before, or twice
		w.noteSpeed(ctx, r, made.Size, time.Since(began)-b.apart(), log)
	}
	return r, nil
}

// recovered makes an error of a panic, since that in one request must not end the others.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// store signs and stores what was made, and completes the request.
func (w *Worker) store(ctx context.Context, r lipsync.Request, path string, made render.Result, m *meter, b *bound, log *slog.Logger) (lipsync.Request, error) {
	b.set(transferTime, errSlow)
	m.enter(order.Storing)
	warning, err := w.sign(ctx, r, path, log)
	if err != nil {
		return r, err
	}
	r.Warnings = r.Warnings.With(warning)
	b.set(transferTime, errSlow)
	if made.NoPoster != nil {
		log.Warn("no poster was made", "error", made.NoPoster)
	}
	if len(made.Poster) > 0 {
		w.storePoster(ctx, &r, made.Poster, log)
	}
	return r, w.complete(ctx, r, path, b)
}

// analyse completes the analysis of a video. It returns the request with the video's length, as far as it is known.
func (w *Worker) analyse(ctx context.Context, r lipsync.Request, video string, o *observer) (lipsync.Request, error) {
	a, stated, err := w.c.Renderer.FindPeople(ctx, video, o)
	r.VideoLength = stated.Truncate(time.Microsecond)
	if err != nil {
		return r, err
	}
	o.bound.set(transferTime, errSlow)
	o.meter.enter(order.Storing)
	return r, w.c.Work.CompleteAnalysis(ctx, r, a)
}

// estimate completes an estimate. errs are the errors of fetching its media.
func (w *Worker) estimate(ctx context.Context, r lipsync.Request, job render.Job, errs []error, m *meter, b *bound) (err error) {
	var e order.Estimate
	if e.Problems, err = order.Problems(errs...); err == nil && e.Problems == nil {
		e, err = w.c.Renderer.Estimate(ctx, job)
	}
	if err != nil {
		return err
	}
	b.set(transferTime, errSlow)
	m.enter(order.Storing)
	return w.c.Work.CompleteEstimate(ctx, r, e)
}

// noteSpeed records how long a completed request took. If that fails, only a statistic is lost.
func (w *Worker) noteSpeed(ctx context.Context, r lipsync.Request, size int64, took time.Duration, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	if err := w.c.Work.NoteSpeed(ctx, r, size, took); err != nil {
		log.Warn("note the speed of a request", "error", err)
	}
}

// posterTime bounds the storing of a poster. The attempt goes on if that fails.
const posterTime = time.Minute

func (w *Worker) storePoster(ctx context.Context, r *lipsync.Request, jpeg []byte, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, posterTime)
	defer cancel()
	if err := w.c.Work.StorePoster(ctx, r, jpeg); err != nil {
		log.Warn("no poster was stored", "error", err)
	}
}

// complete stores the output, sends it to the client's URL, if there is one, and completes the request. Only an output that is stored is sent: after a
// fault of our store each attempt would send it again, until the client's URL expires. No request is completed whose output was not sent.
func (w *Worker) complete(ctx context.Context, r lipsync.Request, path string, b *bound) error {
	output, err := os.Open(path)
	if err != nil {
		return err
	}
	defer output.Close()
	info, err := output.Stat()
	if err != nil {
		return err
	}
	if err := w.c.Work.StoreOutput(ctx, r, output, info.Size()); err != nil {
		return err
	}
	if err := w.send(ctx, r.Options.Output.UploadURL, output, info.Size(), b); err != nil {
		w.c.Work.DropOutput(ctx, r)
		return err
	}
	return w.c.Work.CompleteStored(ctx, r, info.Size())
}
