package service

import (
	"context"
	"errors"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
)

const (
	// sweepBatch is the number of requests that one Sweep handles; the next Sweep continues. It is
	// also the number of uploads that Sweep reads in one call of the store.
	sweepBatch = 200
	// pausesBatch is the number of requests whose pauses one Sweep ends.
	pausesBatch = 1000
	// delayedBatch is the number of postponed requests whose hosts one Sweep checks:
	// more than an account may have open by default, so that one does not hide the others.
	delayedBatch = 2000
	// sweepTime is the time after which a Sweep starts no new work. It is less than the minute
	// until the next Sweep, and less than the 55 s of the function on AWS.
	sweepTime = 40 * time.Second
	// uploadGrace is the time for which an expired upload is kept, for a Generate that read it
	// before it expired.
	uploadGrace = time.Hour
)

// Sweep closes requests that are Spent, tells workers about requests that wait, does the store's
// upkeep, announces deliveries that are due, makes requests of batches, and deletes expired uploads and, on a full disk, caches. Call it once a minute. Two calls at
// the same time do no harm.
func (s *Service) Sweep(ctx context.Context) error {
	end := s.Now().Add(sweepTime)
	oldest, err := s.sweepRequests(ctx, end)
	errs := []error{err, s.sweepPauses(ctx, end), s.Store.Leases.Upkeep(ctx, s.Now()), s.SweepWebhooks(ctx, end), s.sweepCaches(ctx)}
	if s.Pooled {
		errs = append(errs, s.scale(ctx, min(scalePatience, end.Sub(s.Now())), round{sweep: true, late: oldest > isLate}))
	}
	lines, err := s.SweepBatches(ctx, end)
	errs = append(errs, err)
	if lines != nil && s.Trusted() { // otherwise a batch that wasn't read may need an upload
		errs = append(errs, s.sweepUploads(ctx, lines, end))
	}
	return errors.Join(errs...)
}

// sweepRequests closes requests that are Spent and sends messages for the others. It returns how
// long the oldest request has waited.
func (s *Service) sweepRequests(ctx context.Context, end time.Time) (oldest time.Duration, err error) {
	now := s.Now()
	open, err := s.Store.Leases.Open(ctx, now, sweepBatch)
	if err != nil {
		return 0, err
	}
	for _, r := range open {
		oldest = max(oldest, waited(r, now))
	}
	s.Watcher.Waiting(oldest)
	var errs []error
	for _, r := range open {
		if s.Over(end) {
			break
		}
		switch {
		case r.Spent():
			errs = append(errs, s.closeSpent(ctx, r.ID))
		case !s.Pooled: // otherwise Scale starts workers for them
			errs = append(errs, s.Hints.Send(ctx, r))
		}
	}
	return oldest, errors.Join(errs...)
}

// sweepPauses reports why postponed requests wait. It also ends pauses that are longer than a pause
// can be: after they began, the clock was set back.
func (s *Service) sweepPauses(ctx context.Context, end time.Time) error {
	delayed, err := s.Store.Leases.Postponed(ctx, time.Time{}, delayedBatch)
	if err == nil {
		s.Watcher.Unreachable(unreachable(delayed))
		s.Watcher.Failing(failing(delayed, s.Now()))
	}
	long, longErr := s.Store.Leases.Postponed(ctx, s.Now().Add(requests.PauseBound), pausesBatch)
	errs := []error{err, longErr}
	for _, r := range long {
		if s.Over(end) {
			break
		}
		errs = append(errs, s.endPause(ctx, r))
	}
	return errors.Join(errs...)
}

// unreachable returns a lower bound of the number of hosts that requests couldn't reach: the number
// of delayed requests without a common host. It does not know which of its hosts a request couldn't
// reach.
func unreachable(delayed []lipsync.Request) (n int) {
	known := make(map[string]bool)
	for _, r := range delayed {
		var hosts []string
		for _, in := range append(r.Inputs(), lipsync.Input{URL: r.Options.Face.Boxes}, lipsync.Input{URL: string(r.Options.Output.UploadURL)}) {
			hosts = append(hosts, hostOf(in))
		}
		if r.UnreachableSince.IsZero() && r.MissingSince.IsZero() || slices.ContainsFunc(hosts, func(host string) bool { return known[host] }) {
			continue
		}
		n++
		for _, host := range hosts {
			known[host] = host != ""
		}
	}
	return n
}

// hostOf returns the host of the input's URL in lower case and without a port, or "" for an object.
func hostOf(i lipsync.Input) string {
	u, err := url.Parse(i.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// failing returns the longest time, until now, for which HostFailing has delayed one of the requests
// again and again. A request whose last delay has another cause does not count.
func failing(delayed []lipsync.Request, now time.Time) (longest time.Duration) {
	for _, r := range delayed {
		if !r.FailingSince.IsZero() && r.UnreachableSince.IsZero() && r.MissingSince.IsZero() {
			longest = max(longest, now.Sub(r.FailingSince))
		}
	}
	return longest
}

// endPause ends the pause of a request, unless another call has changed the request meanwhile.
func (s *Service) endPause(ctx context.Context, r lipsync.Request) error {
	now := s.Now()
	_, err := s.Store.Leases.Change(ctx, r.ID, func(stored lipsync.Request) (lipsync.Request, error) { return stored.Resumed(r.LeaseUntil, now) })
	return failure.Unless(failure.Conflict, err)
}

// waited returns how long an open request without a lease has waited for a worker.
func waited(r lipsync.Request, now time.Time) time.Duration {
	since := r.CreatedAt
	if delayed(r) && r.LeaseUntil.After(since) {
		since = r.LeaseUntil // until then it waited for the end of a fault
	}
	return now.Sub(since)
}

// closeSpent lets Claim make the request failed. If an attempt was released meanwhile, Claim
// succeeds, and closeSpent releases the request again.
func (s *Service) closeSpent(ctx context.Context, id string) error {
	r, err := s.Claim(ctx, id)
	switch failure.CodeOf(err) {
	case "":
		return s.Release(ctx, r)
	case failure.NotFound:
		return nil
	default:
		return err
	}
}

// sweepUploads deletes expired uploads, page by page. Uploads that are still needed, or that can't
// be deleted, do not delay the others.
func (s *Service) sweepUploads(ctx context.Context, lines *batches.Awaited, end time.Time) error {
	before := s.Now().Add(-uploadGrace)
	var last lipsync.Upload
	var errs []error
	for !s.Over(end) {
		expired, err := s.Store.Uploads.Expired(ctx, before, last, sweepBatch)
		errs = append(errs, err)
		if len(expired) == 0 {
			break
		}
		errs = append(errs, s.sweepPage(ctx, expired, lines, end))
		last = expired[len(expired)-1]
	}
	return errors.Join(errs...)
}

// sweepPage deletes expired uploads, AtOnce at a time.
func (s *Service) sweepPage(ctx context.Context, expired []lipsync.Upload, lines *batches.Awaited, end time.Time) error {
	return s.Each(len(expired), end, func(i int) error { return s.sweepUpload(ctx, expired[i], lines) })
}

// sweepUpload deletes an expired upload, unless an open request uses it or a line of a batch waits for its
// turn to use it.
func (s *Service) sweepUpload(ctx context.Context, u lipsync.Upload, lines *batches.Awaited) error {
	used, err := s.inUse(ctx, u)
	if err == nil && !used && !u.Dropped {
		used, err = lines.Need(ctx, u)
	}
	if err != nil || used {
		return err
	}
	// Delete the object first: that works on a full disk too. If deleting the record then fails,
	// the next sweep tries again.
	remove := s.Objects.Delete
	if strings.HasPrefix(u.Object, lipsync.OutputKeys) { // see dropLate
		remove = s.DeleteOutput
	}
	if err := remove(ctx, u.Object); err != nil {
		return err
	}
	return s.Store.Uploads.Delete(ctx, u)
}

// inUse reports whether an open request uses the upload: the last request that named it, or an
// earlier one.
func (s *Service) inUse(ctx context.Context, u lipsync.Upload) (bool, error) {
	open, err := s.isOpen(ctx, u.RequestID)
	if err != nil || open {
		return open, err
	}
	return s.Store.Requests.Uses(ctx, u.Account, u.Object)
}

func (s *Service) isOpen(ctx context.Context, requestID string) (bool, error) {
	if requestID == "" {
		return false, nil
	}
	r, err := s.Store.Requests.ByID(ctx, requestID)
	if failure.CodeOf(err) == failure.NotFound {
		return false, nil
	}
	return !r.Status.Final(), err
}

// Recover cleans up after a killed process. It releases the requests and deliveries that the process held, without
// counting the attempts, since the end of the process says little about them (see MaxClaims). It deletes
// nothing: Tidy does that later. Call it at the start of the only process that serves the store, before anything else runs.
func (s *Service) Recover(ctx context.Context) error {
	errs := []error{s.Store.Leases.Upkeep(ctx, s.Now())}
	open, err := s.Store.Leases.Open(ctx, s.Ever(), math.MaxInt)
	errs = append(errs, err)
	for _, r := range open {
		switch {
		case r.Lease != "":
			errs = append(errs, s.Release(ctx, r))
		case r.LeaseUntil.Sub(s.Now()) > requests.PauseBound:
			errs = append(errs, s.endPause(ctx, r))
		}
	}
	return errors.Join(append(errs, s.RecoverDeliveries(ctx))...)
}

// delayed reports whether a transient fault or a missing host ended the last attempt.
func delayed(r lipsync.Request) bool {
	return !r.MissingSince.IsZero() || !r.UnreachableSince.IsZero() || !r.FailingSince.IsZero()
}
