package service

import (
	"bytes"
	"context"
	"io"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
)

// Records is what a worker needs of the records of requests. A Service is one. A runner on AWS has no rights to the records, so it calls a
// function that has a Service.
//
// Of a claimed request, the methods use ID, Lease, Claims, VideoSum, and the lengths of the media. They return Conflict if the worker has lost the request.
type Records interface {
	// Claim leases the request with the id to the caller, or the next request of no account in except if id is "". It returns NotFound if there is
	// nothing to claim.
	Claim(ctx context.Context, id string, except ...string) (lipsync.Request, error)
	// Renew holds a claimed request for another Lease.
	Renew(ctx context.Context, r lipsync.Request) error
	// Held checks that the worker still holds a claimed request.
	Held(ctx context.Context, r lipsync.Request) error
	// Report stores the progress of a claimed request.
	Report(ctx context.Context, r lipsync.Request, p lipsync.Progress) error
	// NoteVideo records which video a claimed request has, by its SHA-256. It returns NotFound if an earlier attempt had another one.
	NoteVideo(ctx context.Context, r lipsync.Request, video [32]byte) error
	// Release gives a claimed request back. The attempt does not count.
	Release(ctx context.Context, r lipsync.Request) error
	// Enlarge gives a claimed request back that is too large for the worker: see Request.Enlarged.
	Enlarge(ctx context.Context, r lipsync.Request) error
	// Fault ends an attempt that failed with err after the time held. again is the time of the next attempt, zero if there is none.
	Fault(ctx context.Context, r lipsync.Request, err error, held time.Duration) (f failure.Failure, again time.Time, _ error)
	// Finish makes a claimed request final.
	Finish(ctx context.Context, r lipsync.Request, o lipsync.Outcome) error
	// NoteSpeed records how long a worker took for a completed request of the size, as that of a Speed.
	NoteSpeed(ctx context.Context, r lipsync.Request, size int64, took time.Duration) error
	// Worked is Demand.Worked.
	Worked(ctx context.Context, of lipsync.Stint) (all time.Duration, err error)
}

var _ Records = (*Service)(nil)

// Work is what workers do: they claim requests by Records, which may be in another process, and read and store media. All methods are safe for
// concurrent use.
type Work struct {
	*base.Base
	Records

	findings, pieces cache
}

// NewWork returns the Work with the records. The base needs no Store.
func NewWork(b *base.Base, r Records) *Work {
	return &Work{Base: b, Records: r, findings: cache{prefix: lipsync.FindingsKeys}, pieces: cache{prefix: lipsync.PieceKeys, newest: true}}
}

// OpenMedia opens an input that is an object of the service, and returns its size in bytes.
func (w *Work) OpenMedia(ctx context.Context, in lipsync.Input) (io.ReadCloser, int64, error) {
	return w.Objects.Open(ctx, in.Object)
}

// StorePoster stores the poster of a claimed request's output, a JPEG, and sets r.Poster. Call it
// before Complete.
func (w *Work) StorePoster(ctx context.Context, r *lipsync.Request, jpeg []byte) error {
	err := w.Objects.Put(ctx, lipsync.PosterOf(r.OutputKey(r.Claims)), bytes.NewReader(jpeg), int64(len(jpeg)))
	r.Poster = err == nil
	return err
}

// StoreOutput stores the output of a claimed request. After an error it tries to delete it, and may be called again.
func (w *Work) StoreOutput(ctx context.Context, r lipsync.Request, output io.Reader, size int64) error {
	key := r.OutputKey(r.Claims)
	err := w.Objects.Put(ctx, key, output, size)
	if err != nil {
		// The output may be stored nevertheless. The poster remains, since r names it for the next
		// call. If there is no next call, the end of the request or Tidy deletes the poster.
		_ = w.Objects.Delete(context.WithoutCancel(ctx), key)
	}
	return err
}

// DropOutput deletes the stored output of a claimed request, and its poster. If that fails, the end of the request or Tidy deletes them.
func (w *Work) DropOutput(ctx context.Context, r lipsync.Request) {
	_ = w.DeleteOutput(context.WithoutCancel(ctx), r.OutputKey(r.Claims))
}

// Complete does what StoreOutput and CompleteStored do.
func (w *Work) Complete(ctx context.Context, r lipsync.Request, output io.Reader, size int64) error {
	if err := w.StoreOutput(ctx, r, output, size); err != nil {
		return err
	}
	return w.CompleteStored(ctx, r, size)
}

// CompleteStored completes a claimed request whose output is stored; size is in bytes. The worker must have set the lengths, Frames, Warnings and
// Sync in r. CompleteStored returns Conflict if the worker has lost the request, and then tries to delete the output. After any other error it may be
// called again.
func (w *Work) CompleteStored(ctx context.Context, r lipsync.Request, size int64) error {
	// The goroutine that watches the lease sees that this call ends it, and cancels ctx. That must
	// not interrupt the call.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), requests.FinishTime)
	defer cancel()
	err := w.Records.Finish(last, r, lipsync.Outcome{
		Output: r.OutputKey(r.Claims), Poster: r.Poster, Length: r.Length, Size: size, Frames: r.Frames, Unsynced: r.Unsynced, Warnings: r.Warnings, Sync: r.Sync,
	})
	if failure.CodeOf(err) == failure.Conflict {
		w.DropOutput(ctx, r)
	}
	if err != nil && last.Err() != nil {
		return &failure.Error{Code: failure.Unavailable, Message: "the store doesn't answer", Err: err}
	}
	return err
}
