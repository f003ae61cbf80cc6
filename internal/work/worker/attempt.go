package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/render"
)

// reportTime bounds the last report to the store when the worker itself must stop.
const reportTime = 5 * time.Second

// do makes one attempt at a claimed request, and reports how it ended. If nothing could be
// reported, it returns an error: errLost or Conflict if the request belongs to another worker now.
func (w *Worker) do(ctx context.Context, r lipsync.Request, log *slog.Logger) error {
	m, started := new(meter), time.Now()
	held, drop := w.hold(ctx, r, m, log)
	bounded, b := w.bound(held)
	err := w.attempt(bounded, &r, m, b, log)
	if cause := context.Cause(bounded); err != nil && (cause == errSlow || cause == errTooSlow) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
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
	case why == errLost, lipsync.CodeOf(err) == lipsync.Conflict, lipsync.CodeOf(w.Service.Held(report, r)) == lipsync.Conflict:
		// The last condition finds a request that was canceled: its inputs were deleted, so the
		// attempt failed before it noticed the cancel.
		return errLost
	case ctx.Err() != nil:
		log.Info("released", "error", err)
		return w.Service.Release(report, r)
	default:
		return w.fault(ctx, r, err, time.Since(started), log)
	}
}

// fault reports that an attempt ended with err, after the time took. It returns an error if the
// service is at fault and will make another attempt: errDisk if the disk fails.
func (w *Worker) fault(ctx context.Context, r lipsync.Request, err error, took time.Duration, log *slog.Logger) error {
	disk := lipsync.DiskFails(err) && lipsync.FailureOf(err).Code == lipsync.HostFailing
	if disk {
		w.failing.Store(w.lack())
	}
	f, again, reported := w.report(ctx, r, err, took)
	log = log.With("code", f.Code, "class", f.Code.Class(), "error", err)
	switch {
	case reported != nil:
		return errors.Join(reported, err)
	case again.IsZero() && f.Code.Class() == lipsync.OfInput:
		log.Info("failed")
	case again.IsZero():
		log.Error("failed")
	case disk:
		w.failing.Store(w.lack()) // the record may have been written to the reserve
		log.Error("postponed: the disk is full or fails", "until", again)
		return errDisk
	default:
		log.Warn("postponed", "until", again)
		if f.Code.Class() == lipsync.OfOurs {
			return err
		}
	}
	return nil
}

// attempt fetches the media, renders, analyses or inspects them, and stores the result. It keeps all its files in
// one folder, which it removes. It sets the lengths of the request.
func (w *Worker) attempt(ctx context.Context, r *lipsync.Request, m *meter, b *bound, log *slog.Logger) (err error) {
	began := time.Now()
	folder, err := os.MkdirTemp(w.Scratch, "request-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	// A panic in one request must not end the others.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	job := render.Job{
		Video:       filepath.Join(folder, "video"),
		Output:      filepath.Join(folder, "output"+r.Options.Output.Format.Extension()),
		Scratch:     folder,
		LargestFace: r.LargestFace,
		Engine:      r.Engine,
		Options:     r.Options,
		Boxes:       filepath.Join(folder, "boxes.json"),
		Signed:      w.Signer != nil && w.Service.RequireProvenance,
		Progress:    m.rendered,
		Measured: func(video, audio time.Duration) {
			r.VideoLength, r.AudioLength = video.Truncate(time.Microsecond), audio.Truncate(time.Microsecond)
			length := max(video, audio)
			if video == 0 && (r.IsAnalysis() || r.Options.SyncMode == lipsync.Pad || r.Options.Segments != "") { // it may be the longest video
				length = render.DefaultLimits().Duration
			}
			b.set(renderTime(length), errTooSlow)
		},
	}
	m.enter(lipsync.Fetching)
	sum := sha256.New()
	errs := w.getAll(ctx, r, &job, b, sum)
	switch {
	case r.IsEstimate():
		return w.estimate(ctx, r, job, errs, m, b)
	case errs != nil:
		return errs[0]
	case r.IsAnalysis():
		a, err := w.Renderer.FindPeople(ctx, job)
		if err != nil {
			return err
		}
		b.set(transferTime, errSlow)
		m.enter(lipsync.Storing)
		return w.Service.CompleteAnalysis(ctx, *r, a)
	}
	started, size := time.Now(), int64(0)
	whole := true // nothing of the work was done before, or twice
	job.VideoSum = [sha256.Size]byte(sum.Sum(nil))
	if w.Service.KeepsFindings() {
		job.Findings = &findings{w.Service, *r, job.VideoSum, log}
	}
	job.Pieces, job.PieceTime = &pieces{w.Service, *r, log}, w.PieceTime
	job.Unkept = func(piece int, err error) { log.Warn("a piece was not kept", "piece", piece, "error", err) }
	job.Resumed = func(frames, total int) {
		whole = false
		log.Info("goes on after the pieces of earlier attempts", "frames", frames, "of", total)
	}
	job.Rendered = func(output render.Result) {
		size, whole = output.Size, whole && !output.Recalled && !output.Again
		r.Length, r.Frames, r.Warnings, r.Sync = output.Length.Truncate(time.Microsecond), output.Frames, output.Warnings, output.Sync
		log.Info("rendered", "findings_used", output.Recalled)
		if w.Rendered != nil {
			w.Rendered(output.Length, time.Since(started))
		}
	}
	var poster []byte
	job.Poster = func(jpeg []byte, err error) {
		if poster = jpeg; err != nil {
			log.Warn("no poster was made", "error", err)
		}
	}
	if err := w.Renderer.Render(ctx, job); err != nil {
		return err
	}
	b.set(transferTime, errSlow)
	m.enter(lipsync.Storing)
	if err := w.sign(ctx, r, job.Output, log); err != nil {
		return err
	}
	b.set(transferTime, errSlow)
	if len(poster) > 0 {
		w.storePoster(ctx, r, poster, log)
	}
	if err := w.complete(ctx, *r, job.Output); err != nil {
		return err
	}
	if whole {
		w.noteSpeed(ctx, *r, size, time.Since(began), log)
	}
	return nil
}

// estimate completes an estimate. errs are the errors of fetching its media.
func (w *Worker) estimate(ctx context.Context, r *lipsync.Request, job render.Job, errs []error, m *meter, b *bound) (err error) {
	var e lipsync.Estimate
	if e.Problems, err = lipsync.Problems(errs...); err == nil && e.Problems == nil {
		e, err = w.Renderer.Estimate(ctx, job)
	}
	if err != nil {
		return err
	}
	b.set(transferTime, errSlow)
	m.enter(lipsync.Storing)
	return w.Service.CompleteEstimate(ctx, *r, e)
}

// noteSpeed records how long a completed request took. If that fails, only a statistic is lost.
func (w *Worker) noteSpeed(ctx context.Context, r lipsync.Request, size int64, took time.Duration, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	if err := w.Service.NoteSpeed(ctx, r, size, took); err != nil {
		log.Warn("note the speed of a request", "error", err)
	}
}

// posterTime bounds the storing of a poster. The attempt goes on if that fails.
const posterTime = time.Minute

func (w *Worker) storePoster(ctx context.Context, r *lipsync.Request, jpeg []byte, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, posterTime)
	defer cancel()
	if err := w.Service.StorePoster(ctx, r, jpeg); err != nil {
		log.Warn("no poster was stored", "error", err)
	}
}

// complete stores the output, sends it to the client's URL, if there is one, and completes the request. Only an output that is stored is sent: after a
// fault of our store each attempt would send it again, until the client's URL expires.
func (w *Worker) complete(ctx context.Context, r lipsync.Request, path string) error {
	output, err := os.Open(path)
	if err != nil {
		return err
	}
	defer output.Close()
	info, err := output.Stat()
	if err != nil {
		return err
	}
	return w.Service.CompleteAfter(ctx, r, output, info.Size(), func() error {
		return w.send(ctx, r.Options.Output.UploadURL, output, info.Size())
	})
}
