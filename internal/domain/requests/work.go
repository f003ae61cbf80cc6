package requests

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// FinishTime bounds the write that makes a request final, after its output is stored.
const FinishTime = 10 * time.Second

// Claim leases the request with the id to the caller, or the next request of no account in except if id is ""; see
// Leases.Claim. If that claim was one too many, Claim makes the request failed and tries again. It
// returns NotFound if there is nothing to claim, and for the time of a Lease after the clock was set
// forward.
func (s *Service) Claim(ctx context.Context, id string, except ...string) (lipsync.Request, error) {
	if !s.Settled() {
		return lipsync.Request{}, failure.New(failure.NotFound, "the clock was set forward")
	}
	for {
		r, err := s.Store.Leases.Claim(ctx, id, s.NewID(), s.Now(), lipsync.Lease, except...)
		if err != nil {
			return lipsync.Request{}, err
		}
		if r.Claims == 1 {
			s.Watcher.Started(r)
			s.Announce(ctx, 0, r.News(lipsync.Queued)...)
		}
		if !r.Overspent() {
			return r, nil
		}
		if err := s.Fail(ctx, r, failure.Failure{Code: failure.InternalFault}); err != nil && failure.CodeOf(err) != failure.Conflict {
			return lipsync.Request{}, err
		}
	}
}

// Renew holds a claimed request for another Lease. It returns Conflict if the worker has lost the
// request.
func (s *Service) Renew(ctx context.Context, r lipsync.Request) error {
	return s.Store.Leases.Renew(ctx, r.ID, r.Lease, s.Now().Add(lipsync.Lease))
}

// Report stores the progress of a claimed request. It returns Conflict if the worker has lost the
// request.
func (s *Service) Report(ctx context.Context, r lipsync.Request, p lipsync.Progress) error {
	return s.Store.Leases.Report(ctx, r.ID, r.Lease, p)
}

// Held checks that the worker still holds the claimed request. It returns Conflict if another
// worker has claimed the request, or if its client has canceled it.
func (s *Service) Held(ctx context.Context, r lipsync.Request) error {
	stored, err := s.Store.Requests.ByID(ctx, r.ID)
	if err == nil && stored.Lease != r.Lease {
		return lipsync.ErrLost
	}
	return err
}

// OpenMedia opens an input that is an object of the service, and returns its size in bytes.
func (s *Service) OpenMedia(ctx context.Context, in lipsync.Input) (io.ReadCloser, int64, error) {
	return s.Objects.Open(ctx, in.Object)
}

// Release ends the lease of a claimed request. The attempt does not count. Release returns Conflict
// if the worker has lost the request.
func (s *Service) Release(ctx context.Context, r lipsync.Request) error {
	_, err := s.Store.Leases.Change(ctx, r.ID, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Released(r.Lease) })
	return err
}

// StorePoster stores the poster of a claimed request's output, a JPEG, and sets r.Poster. Call it
// before Complete.
func (s *Service) StorePoster(ctx context.Context, r *lipsync.Request, jpeg []byte) error {
	err := s.Objects.Put(ctx, lipsync.PosterOf(r.OutputKey(r.Claims)), bytes.NewReader(jpeg), int64(len(jpeg)))
	r.Poster = err == nil
	return err
}

// Complete stores the output of a claimed request and makes the request completed. The worker must
// have set the lengths, Frames, Warnings and Sync in r. Complete returns Conflict if the worker has lost
// the request, and then deletes the output. After any other error it may be called again.
func (s *Service) Complete(ctx context.Context, r lipsync.Request, output io.Reader, size int64) error {
	return s.CompleteAfter(ctx, r, output, size, func() error { return nil })
}

// CompleteAfter does what Complete does, and calls send after the output is stored and before the request is completed: a client gets an output
// that the service could store, and no request is completed whose output was not sent. If send fails, CompleteAfter deletes the output and its
// poster, and returns the error.
func (s *Service) CompleteAfter(ctx context.Context, r lipsync.Request, output io.Reader, size int64, send func() error) error {
	key := r.OutputKey(r.Claims)
	late := context.WithoutCancel(ctx)
	if err := s.Objects.Put(ctx, key, output, size); err != nil {
		// The output may be stored nevertheless. The poster remains, since r names it for the next
		// call. If there is no next call, dropMedia or Tidy deletes the poster.
		_ = s.Objects.Delete(late, key)
		return err
	}
	if err := send(); err != nil {
		_ = s.DeleteOutput(late, key) // if this fails, dropMedia or Tidy deletes it
		return err
	}
	// The goroutine that watches the lease sees that this call ends it, and cancels ctx. That must
	// not interrupt the call.
	last, cancel := context.WithTimeout(late, FinishTime)
	defer cancel()
	err := s.finish(last, r, lipsync.Outcome{
		Output: key, Poster: r.Poster, Length: r.Length, Size: size, Frames: r.Frames, Unsynced: r.Unsynced, Warnings: r.Warnings, Sync: r.Sync,
	})
	if failure.CodeOf(err) == failure.Conflict {
		_ = s.DeleteOutput(late, key) // if this fails, Tidy deletes it
	}
	if err != nil && last.Err() != nil {
		return &failure.Error{Code: failure.Unavailable, Message: "the store doesn't answer", Err: err}
	}
	return err
}

// Fail makes a claimed request failed. It returns Conflict if the worker has lost the request.
func (s *Service) Fail(ctx context.Context, r lipsync.Request, f failure.Failure) error {
	return s.finish(ctx, r, lipsync.Outcome{Failure: f})
}

// finish makes the request final. If an earlier call did the same, but its answer was lost, finish
// returns no error.
func (s *Service) finish(ctx context.Context, r lipsync.Request, o lipsync.Outcome) error {
	now := s.Now()
	o.VideoLength, o.AudioLength = r.VideoLength, r.AudioLength
	ended, err := s.Store.Leases.Change(ctx, r.ID, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Ended(r.Lease, now, o) })
	if failure.CodeOf(err) == failure.Conflict {
		stored, getErr := s.Store.Requests.ByID(ctx, r.ID)
		if getErr != nil {
			return getErr
		}
		if !stored.Status.Final() || stored.Output != o.Output || stored.Failure != o.Failure {
			return err
		}
		ended = stored
	} else if err != nil {
		return err
	}
	s.Watcher.Finished(ended)
	s.Announce(ctx, 0, ended.News(lipsync.Processing)...)
	s.dropMedia(ctx, ended)
	return nil
}

// CancelByID sets the request with the id to failed; see Cancel.
func (s *Service) CancelByID(ctx context.Context, id string) (lipsync.Request, error) {
	now := s.Now()
	r, err := s.Store.Leases.Change(ctx, id, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Canceled(now) })
	if failure.CodeOf(err) == failure.Conflict {
		if r, err = s.Store.Requests.ByID(ctx, id); err == nil && r.Failure.Code != failure.Canceled {
			err = failure.New(failure.Finished, "lipsync request is already finished")
		}
	} else if err == nil {
		s.Watcher.Finished(r)
		s.Announce(ctx, 0, r.News(lipsync.Processing)...)
	}
	if err != nil {
		return lipsync.Request{}, err
	}
	s.dropMedia(ctx, r)
	return r, nil
}

// dropMedia deletes the media that a final request no longer needs: the inputs that were stored for
// it, the outputs of claims whose workers died, and the pieces of outputs. Tidy deletes the media that dropMedia can't.
func (s *Service) dropMedia(ctx context.Context, r lipsync.Request) {
	ctx = context.WithoutCancel(ctx)
	for _, in := range r.Inputs() {
		if strings.HasPrefix(in.Object, lipsync.InputKeys) {
			_ = s.Objects.Delete(ctx, in.Object)
		}
	}
	for claim := 1; claim <= r.Claims; claim++ {
		if key := r.OutputKey(claim); key != r.Output {
			_ = s.DeleteOutput(ctx, key)
		}
	}
	if r.Claims > 0 {
		_ = s.dropPieces(ctx, r)
	}
}
