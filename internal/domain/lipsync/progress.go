package lipsync

import (
	"time"

	"lipsync/internal/domain/order"
)

// Progress is the progress of an attempt at a request.
type Progress struct {
	Stage   order.Stage // "" if the worker has reported nothing
	Percent int         // of the whole attempt, 0 to 99; 100 if completed
	Ends    time.Time   // expected end; zero if unknown
}

// ProgressAt returns the request's progress at now, as far as it is known. If no worker holds the
// request, it returns the zero Progress, even if an earlier attempt made progress.
func (r Request) ProgressAt(now time.Time) Progress {
	p := r.Progress
	switch {
	case r.Status == Completed:
		p = Progress{Percent: 100}
	case !now.Before(r.LeaseUntil):
		p = Progress{}
	case !now.Before(p.Ends):
		p.Ends = time.Time{} // it takes longer than expected
	}
	return p
}
