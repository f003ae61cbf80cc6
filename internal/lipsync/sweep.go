package lipsync

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"time"
)

const (
	// sweepBatch is how many requests one Sweep looks at; the next one goes on. It is
	// also how many uploads it looks at in one call of the store.
	sweepBatch = 200
	// pausesBatch is how many requests one Sweep ends the pauses of.
	pausesBatch = 1000
	// delayedBatch is of how many requests that were put off one Sweep looks at the hosts:
	// more than an account may have open by default, so that one does not hide the others.
	delayedBatch = 2000
	// sweepTime is for how long a Sweep begins anything: less than the minute after which
	// the next one begins, and than the 55 s that the function of AWS has.
	sweepTime = 40 * time.Second
	// sweepWorkers is how many uploads a Sweep deletes at a time. On AWS one takes some 100 ms:
	// so many delete 6000 in its time, and those of four million requests in a day.
	sweepWorkers = 16
	// uploadGrace keeps an expired upload for a Generate that found it in time.
	uploadGrace = time.Hour
	// clockSpread is more than the clocks of two hosts differ by.
	clockSpread = time.Minute
	// longestPutOff is longer than any pause of a request that began now.
	longestPutOff = longestRetryAfter + clockSpread
)

// Sweep closes requests that are Spent, has workers look for those that still wait, does the
// upkeep of the store, and deletes expired uploads. It is to run once a minute, and
// harms nothing when it runs twice at a time.
func (s *Service) Sweep(ctx context.Context) error {
	end := s.Now().Add(sweepTime)
	oldest, err := s.sweepRequests(ctx, end)
	errs := []error{err, s.sweepPauses(ctx, end), s.Leases.Upkeep(ctx, s.Now())}
	if s.Pool != nil {
		errs = append(errs, s.scale(ctx, min(scalePatience, end.Sub(s.Now())), oldest > isLate))
	}
	return errors.Join(append(errs, s.sweepUploads(ctx, end))...)
}

// ended reports whether a Sweep is to begin nothing more.
func (s *Service) ended(end time.Time) bool { return !s.Now().Before(end) }

// sweepRequests returns for how long the oldest request has waited, too.
func (s *Service) sweepRequests(ctx context.Context, end time.Time) (oldest time.Duration, err error) {
	now := s.Now()
	open, err := s.Leases.Open(ctx, now, sweepBatch)
	if err != nil {
		return 0, err
	}
	for _, r := range open {
		oldest = max(oldest, r.waited(now))
	}
	s.watcher().Waiting(oldest)
	var errs []error
	for _, r := range open {
		if s.ended(end) {
			break
		}
		switch {
		case r.Spent():
			errs = append(errs, s.closeSpent(ctx, r.ID))
		case s.Pool == nil: // else Scale has them done
			errs = append(errs, s.Queue.Send(ctx, r.ID))
		}
	}
	return oldest, errors.Join(errs...)
}

// sweepPauses tells what requests were put off for. It ends pauses that end later than any
// that began now: the clock was set back since.
func (s *Service) sweepPauses(ctx context.Context, end time.Time) error {
	delayed, err := s.Leases.PutOff(ctx, time.Time{}, delayedBatch)
	if err == nil {
		s.watcher().Unreachable(unreachable(delayed))
	}
	long, longErr := s.Leases.PutOff(ctx, s.Now().Add(longestPutOff), pausesBatch)
	errs := []error{err, longErr}
	for _, r := range long {
		if s.ended(end) {
			break
		}
		errs = append(errs, s.endPause(ctx, r))
	}
	return errors.Join(errs...)
}

// unreachable returns how many of the requests that couldn't reach a host of their media have
// none in common. It takes no account of which of its two hosts a request couldn't reach.
func unreachable(delayed []Request) (n int) {
	known := make(map[string]bool)
	for _, r := range delayed {
		video, audio := r.Video.host(), r.Audio.host()
		if r.UnreachableSince.IsZero() && r.MissingSince.IsZero() || known[video] || known[audio] {
			continue
		}
		n++
		for _, host := range []string{video, audio} {
			known[host] = host != ""
		}
	}
	return n
}

// endPause ends the pause of a request, unless that goes on by itself meanwhile.
func (s *Service) endPause(ctx context.Context, r Request) error {
	err := s.Leases.EndPause(ctx, r, s.Now())
	if CodeOf(err) == Conflict {
		return nil
	}
	return err
}

// waited is for how long an open request that nobody holds has waited for a worker.
func (r Request) waited(now time.Time) time.Duration {
	since := r.CreatedAt
	if r.delayed() && r.LeaseUntil.After(since) {
		since = r.LeaseUntil // before, it waited for what was out of order
	}
	return now.Sub(since)
}

// closeSpent lets Claim make the request failed. Where an attempt was given
// back meanwhile, Claim succeeds, and so does this.
func (s *Service) closeSpent(ctx context.Context, id string) error {
	r, err := s.Claim(ctx, id)
	switch CodeOf(err) {
	case "":
		return s.Release(ctx, r)
	case NotFound:
		return nil
	default:
		return err
	}
}

// sweepUploads deletes the uploads that expired, page after page: those that open
// requests use, and those that can't be deleted, keep no other from its turn.
func (s *Service) sweepUploads(ctx context.Context, end time.Time) error {
	before := s.Now().Add(-uploadGrace)
	var last Upload
	var errs []error
	for !s.ended(end) {
		expired, err := s.Uploads.Expired(ctx, before, last, sweepBatch)
		errs = append(errs, err)
		if len(expired) == 0 {
			break
		}
		errs = append(errs, s.sweepPage(ctx, expired, end))
		last = expired[len(expired)-1]
	}
	return errors.Join(errs...)
}

// sweepPage deletes uploads that expired, some of them at a time.
func (s *Service) sweepPage(ctx context.Context, expired []Upload, end time.Time) error {
	errs := make([]error, len(expired))
	var workers sync.WaitGroup
	for first := range sweepWorkers {
		workers.Go(func() {
			for i := first; i < len(expired) && !s.ended(end); i += sweepWorkers {
				errs[i] = s.sweepUpload(ctx, expired[i])
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// sweepUpload deletes an upload that expired, unless an open request uses it.
func (s *Service) sweepUpload(ctx context.Context, u Upload) error {
	used, err := s.inUse(ctx, u)
	if err != nil || used {
		return err
	}
	// The object goes first: that works on a full disk too, and the record brings the
	// next sweep here again.
	remove := s.Objects.Delete
	if strings.HasPrefix(u.Object, outputs) { // see dropLate
		remove = s.deleteOutput
	}
	if err := remove(ctx, u.Object); err != nil {
		return err
	}
	return s.Uploads.Delete(ctx, u)
}

// inUse tells whether an open request uses an upload: the last one that named it, or an
// earlier one.
func (s *Service) inUse(ctx context.Context, u Upload) (bool, error) {
	open, err := s.isOpen(ctx, u.RequestID)
	if err != nil || open {
		return open, err
	}
	return s.Requests.Uses(ctx, u.Account, u.Object)
}

func (s *Service) isOpen(ctx context.Context, requestID string) (bool, error) {
	if requestID == "" {
		return false, nil
	}
	r, err := s.Requests.ByID(ctx, requestID)
	if CodeOf(err) == NotFound {
		return false, nil
	}
	return !r.Status.Final(), err
}

// Tidy deletes inputs of final requests, outputs whose time is over, and
// objects at least age old that no record names; for 0 those of any age, even
// if the clock was set back. It looks at every object: it is to run once an
// hour, with OrphanAge.
func (s *Service) Tidy(ctx context.Context, age time.Duration) error {
	young := func(modified time.Time) bool { return age > 0 && s.Now().Sub(modified) < age }
	var errs []error
	for _, prefix := range []string{inputs, uploads, outputs} {
		errs = append(errs, s.Objects.List(ctx, prefix, func(key string, modified time.Time) error {
			v, err := s.judge(ctx, key)
			if err != nil || v == needed || v == orphan && young(modified) {
				return err
			}
			return s.Objects.Delete(ctx, key)
		}))
	}
	return errors.Join(errs...)
}

// Needs reports whether a record still has use for the object.
func (s *Service) Needs(ctx context.Context, key string) (bool, error) {
	v, err := s.judge(ctx, key)
	return v == needed && err == nil, err
}

// verdict is what becomes of an object.
type verdict int

const (
	needed verdict = iota
	spent          // its record has no more use for it
	orphan         // no record names it, or none yet
)

// judge says what an object is to its record, which its key tells.
func (s *Service) judge(ctx context.Context, key string) (verdict, error) {
	prefix, rest, _ := strings.Cut(key, "/")
	id, _, _ := strings.Cut(rest, "/")
	var v verdict
	var err error
	if prefix+"/" == uploads {
		_, err = s.Uploads.ByID(ctx, id)
	} else {
		var r Request
		r, err = s.Requests.ByID(ctx, id)
		v = s.judgeMedia(r, key)
	}
	if CodeOf(err) == NotFound {
		return orphan, nil
	}
	return v, err
}

// judgeMedia says what an input or output is to its request. An output stays, with its
// poster, a little longer than it is shown, for the URLs that were signed last.
func (s *Service) judgeMedia(r Request, key string) verdict {
	switch key {
	case r.Video.Object, r.Audio.Object:
		if r.Status.Final() {
			return spent
		}
		return needed
	case r.Output, r.poster():
		if s.Now().After(s.OutputExpires(r).Add(getURLLife)) {
			return spent
		}
		return needed
	default:
		return orphan
	}
}

// ever is later than the end of any lease or pause, also of one that was given before the
// clock was set back.
func (s *Service) ever() time.Time { return s.Now().AddDate(100, 0, 0) }

// Recover makes good what a killed process left: requests that it held are free
// at once and keep their attempts, since its end says little about them (see
// MaxClaims), and objects that no record names are deleted. It is to be called at the start of
// the one process that serves the store, before anything else runs.
func (s *Service) Recover(ctx context.Context) error {
	errs := []error{s.Leases.Upkeep(ctx, s.Now())}
	open, err := s.Leases.Open(ctx, s.ever(), math.MaxInt)
	errs = append(errs, err)
	for _, r := range open {
		switch {
		case r.Lease != "":
			errs = append(errs, s.Release(ctx, r))
		case r.LeaseUntil.Sub(s.Now()) > longestPutOff:
			errs = append(errs, s.endPause(ctx, r))
		}
	}
	return errors.Join(append(errs, s.Tidy(ctx, 0))...)
}
