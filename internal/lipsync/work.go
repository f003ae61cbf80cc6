package lipsync

import (
	"bytes"
	"context"
	"io"
	"strings"
)

// Claim leases the request with the id to the caller, or for "" the next one: see
// Leases.Claim. A request that is Spent is made failed instead, and for "" the next one is
// tried. NotFound if there is nothing to claim, as there is for a Lease after the clock was
// set forward.
func (s *Service) Claim(ctx context.Context, id string) (Request, error) {
	if s.Clock != nil && !s.Clock.Settled() {
		return Request{}, newError(NotFound, "the clock was set forward")
	}
	for {
		r, err := s.Leases.Claim(ctx, id, s.NewID(), s.Now(), Lease)
		if err != nil {
			return Request{}, err
		}
		if r.Claims == 1 {
			s.watcher().Started(r)
		}
		if !r.overspent() {
			return r, nil
		}
		if err := s.Fail(ctx, r, Failure{Code: InternalFault}); err != nil && CodeOf(err) != Conflict {
			return Request{}, err
		}
	}
}

// Renew keeps a claimed request for another Lease. Conflict if it was lost.
func (s *Service) Renew(ctx context.Context, r Request) error {
	return s.Leases.Renew(ctx, r.ID, r.Lease, s.Now().Add(Lease))
}

// Report tells how far a claimed request is. Conflict if it was lost.
func (s *Service) Report(ctx context.Context, r Request, p Progress) error {
	return s.Leases.Report(ctx, r.ID, r.Lease, p)
}

// Held checks that the worker still holds the claimed request. It returns Conflict if another
// worker has claimed the request, or if its client has canceled it.
func (s *Service) Held(ctx context.Context, r Request) error {
	stored, err := s.Requests.ByID(ctx, r.ID)
	if err == nil && stored.Lease != r.Lease {
		return newError(Conflict, "lease lost")
	}
	return err
}

// Release gives a claimed request back, and with it the attempt.
// Conflict if it was lost.
func (s *Service) Release(ctx context.Context, r Request) error {
	return s.Leases.Release(ctx, r.ID, r.Lease)
}

// StorePoster stores a picture of the output of a claimed request, a JPEG, before Complete
// stores the output, and sets r.Poster.
func (s *Service) StorePoster(ctx context.Context, r *Request, jpeg []byte) error {
	err := s.Objects.Put(ctx, posterKey(outputKey(r.ID, r.Claims)), bytes.NewReader(jpeg), int64(len(jpeg)))
	r.Poster = err == nil
	return err
}

// Complete stores the output of a claimed request, whose lengths the worker has
// set, and makes it completed. Conflict if it was lost; then the output is deleted
// again. After any other error it may be called again.
func (s *Service) Complete(ctx context.Context, r Request, output io.Reader, size int64) error {
	key := outputKey(r.ID, r.Claims)
	late := context.WithoutCancel(ctx)
	if err := s.Objects.Put(ctx, key, output, size); err != nil {
		// The output may be there all the same. The poster stays for the next call, since r
		// names it; if there is none, dropMedia or Tidy deletes it.
		_ = s.Objects.Delete(late, key)
		return err
	}
	// Who watches the lease sees it end by this very call, and must not cut it off.
	last, cancel := context.WithTimeout(late, finishTime)
	defer cancel()
	err := s.finish(last, r, Outcome{Output: key, Poster: r.Poster, Length: r.Length, Size: size})
	if CodeOf(err) == Conflict {
		_ = s.deleteOutput(late, key) // else Tidy does it
	}
	if err != nil && last.Err() != nil {
		return &Error{Code: Unavailable, Message: "the store doesn't answer", Err: err}
	}
	return err
}

// Fail makes a claimed request failed. Conflict if it was lost.
func (s *Service) Fail(ctx context.Context, r Request, f Failure) error {
	return s.finish(ctx, r, Outcome{Failure: f})
}

// finish makes the request final. It is no Conflict if an earlier call did the
// same, whose answer was lost.
func (s *Service) finish(ctx context.Context, r Request, o Outcome) error {
	now := s.Now()
	o.VideoLength, o.AudioLength = r.VideoLength, r.AudioLength
	err := s.Leases.Finish(ctx, r.ID, r.Lease, now, o)
	if CodeOf(err) == Conflict {
		stored, getErr := s.Requests.ByID(ctx, r.ID)
		if getErr != nil {
			return getErr
		}
		if !stored.Status.Final() || stored.Output != o.Output || stored.Failure != o.Failure {
			return err
		}
	} else if err != nil {
		return err
	}
	r.End(now, o)
	s.watcher().Finished(r)
	s.dropMedia(ctx, r)
	return nil
}

// dropMedia deletes what a final request has no more use for: the inputs that were
// stored for it, and outputs of claims whose workers died. What stays is Tidy's.
func (s *Service) dropMedia(ctx context.Context, r Request) {
	ctx = context.WithoutCancel(ctx)
	if strings.HasPrefix(r.Video.Object, inputs) {
		_ = s.deleteInputs(ctx, r.ID)
	}
	for claim := 1; claim <= r.Claims; claim++ {
		if key := outputKey(r.ID, claim); key != r.Output {
			_ = s.deleteOutput(ctx, key)
		}
	}
}

// OpenMedia opens an input that is one of our objects.
func (s *Service) OpenMedia(ctx context.Context, in Input) (io.ReadCloser, int64, error) {
	return s.Objects.Open(ctx, in.Object)
}
