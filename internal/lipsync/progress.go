package lipsync

import (
	"context"
	"time"
)

// Stage is what a worker does with a request.
type Stage string

// The stages of an attempt, in their order.
const (
	Fetching  Stage = "fetching"  // the inputs
	Analyzing Stage = "analyzing" // the video: faces, who speaks
	Rendering Stage = "rendering" // the output
	Storing   Stage = "storing"   // the output
)

// Progress is how far an attempt at a request is.
type Progress struct {
	Stage   Stage     // "" if nothing was reported
	Percent int       // of the whole attempt, 0 to 99; 100 once completed
	Ends    time.Time // when it is expected to be done; zero if nobody can tell
}

// Progress returns the caller's request, and how far the work on it is.
func (s *Service) Progress(ctx context.Context, c Caller, idOrReference string) (Request, Progress, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return Request{}, Progress{}, restate(err, NotFound, "lipsync request not found")
	}
	return r, r.ProgressAt(s.Now()), nil
}

// ProgressAt is how far the work on the request is, as far as it is known. Where
// nobody holds it there is no work, whatever an attempt before may have done.
func (r Request) ProgressAt(now time.Time) Progress {
	p := r.Progress
	switch {
	case r.Status == Completed:
		p = Progress{Percent: 100}
	case !now.Before(r.LeaseUntil):
		p = Progress{}
	case !now.Before(p.Ends):
		p.Ends = time.Time{} // it takes longer than anybody expected
	}
	return p
}
