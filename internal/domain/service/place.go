package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// mostAhead is the largest position in the queue that is told. It stands for itself and for all behind it.
const mostAhead = 1000

// Place is the place of a waiting request in the queue.
type Place struct {
	Position int           // 1 if a worker takes it next, at most mostAhead; 0 if it doesn't wait for a worker
	Left     time.Duration // expected time until the request is finished; 0 if unknown
}

// Progress returns the caller's request, its progress, and its place in the queue.
func (s *Service) Progress(ctx context.Context, c lipsync.Caller, idOrReference string) (lipsync.Request, lipsync.Progress, Place, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return lipsync.Request{}, lipsync.Progress{}, Place{}, failure.Restate(err, failure.NotFound, "lipsync request not found")
	}
	place, err := s.Place(ctx, r)
	return r, r.ProgressAt(s.Now()), place, err
}

// Place returns the place of the request in the queue.
func (s *Service) Place(ctx context.Context, r lipsync.Request) (Place, error) {
	if r.Status.Final() || s.Now().Before(r.LeaseUntil) {
		return Place{}, nil
	}
	contest, err := s.contest(ctx, r)
	if contest == nil {
		return Place{}, err
	}
	speeds, err := s.Store.Speeds.All(ctx)
	if err != nil {
		return Place{}, err
	}
	return s.place(r, contest, speeds, s.speed(speeds, r).Mean(), 0), nil
}

// beside returns the classes of the requests that the same workers do as those of the class, mostly: runners also do small requests, if small workers
// don't.
func (s *Service) beside(c lipsync.Class) (all []lipsync.Class) {
	apart := s.apart()
	for _, other := range lipsync.Classes() {
		if other == c || !slices.Contains(apart, c) && !slices.Contains(apart, other) {
			all = append(all, other)
		}
	}
	return all
}

// apart returns the classes that have workers of their own.
func (s *Service) apart() (some []lipsync.Class) {
	if s.Pooled && s.SmallWorkers > 0 {
		some = append(some, lipsync.Small)
	}
	if s.Pooled && s.NeuralWorkers > 0 {
		some = append(some, lipsync.Neural)
	}
	return some
}

// speed returns the Speed of requests like r: of its engine, and of its class if that was measured and not all classes have the same workers.
func (s *Service) speed(all lipsync.Measured, r lipsync.Request) lipsync.Speed {
	if speed, known := all[lipsync.EngineClass{Engine: r.Engine, Class: r.Class}]; known && len(s.apart()) > 0 {
		return speed
	}
	return all.Sum(func(of lipsync.EngineClass) bool { return of.Engine == r.Engine })
}

// contest returns the Contest for a request, or nil if the store is too busy: the rest of an answer matters more.
func (s *Service) contest(ctx context.Context, r lipsync.Request) (*lipsync.Contest, error) {
	contest, err := s.Store.Leases.Contest(ctx, r, s.beside(r.Class), s.Now(), mostAhead)
	if err != nil && failure.Of(err).Code == failure.HostFailing {
		s.Log.Warn("no place in the queue", "request_id", r.ID, "error", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &contest, nil
}

// place returns the place of a waiting request, which may be one that is not made yet, among those that its workers do. The argument own is
// the time that a worker will take for the request, or 0 for the mean time of these requests; idle is the number of workers of the Pool that are
// known to be idle.
func (s *Service) place(r lipsync.Request, contest *lipsync.Contest, speeds lipsync.Measured, own time.Duration, idle int) Place {
	now := s.Now()
	ahead, quick := countBefore(*contest, r.Account, r.Kind, now)
	p := Place{Position: min(ahead+1, mostAhead)}
	beside := s.beside(r.Class)
	mean := speeds.Sum(func(of lipsync.EngineClass) bool { return slices.Contains(beside, of.Class) }).Mean()
	if own == 0 {
		own = mean
	}
	if mean == 0 {
		mean = own
	}
	if own == 0 || ahead >= mostAhead {
		return p
	}
	since, ready := s.Working(heldSince(*contest))
	ends := append(endsOf(since, now, mean), make([]time.Duration, idle)...)
	before := ahead - quick + ready
	if free, known := s.free(r.Class, ends, before, mean, now.Sub(r.CreatedAt)); known {
		p.Left = turn(free, before, mean) + own
	}
	return p
}

// free returns the times until each worker is free; those that run are free at the times ends. known is false if
// no worker is expected. A request of the class behind ahead others has waited for the time waited.
func (s *Service) free(class lipsync.Class, ends []time.Duration, ahead int, mean, waited time.Duration) (free []time.Duration, known bool) {
	if !s.Pooled {
		return append(ends, make([]time.Duration, max(0, s.Workers-len(ends)))...), s.Workers > 0
	}
	atOnce, take, most := 1, StartTime, s.Workers
	if class == lipsync.Neural && s.NeuralWorkers > 0 {
		atOnce, most = lipsync.DoesNeural.AtOnce(), s.NeuralWorkers*lipsync.DoesNeural.AtOnce()
		ends = append(ends, make([]time.Duration, (atOnce-len(ends)%atOnce)%atOnce)...) // the last of the runners may have room
	}
	n := need{means: lipsync.Means{class: mean / time.Duration(atOnce)}}.lacks(staff{running: len(ends) / atOnce}, lipsync.Waiting{class: ahead + 1}) * atOnce
	if class == lipsync.Small && s.SmallWorkers > 0 {
		take, n, most = smallStart, ahead+1, s.SmallWorkers
	}
	start := take - waited // until the workers that Scale started for the request are ready
	if start <= 0 {        // they are busy now
		return ends, len(ends) > 0
	}
	if most > 0 {
		n = min(n, most-len(ends))
	}
	for range n {
		ends = append(ends, start)
	}
	return ends, len(ends) > 0
}

// countBefore returns the number of requests that are claimed before the next request of the account and kind behind
// c.Ahead others, if no request ends meanwhile: at most mostAhead. quick is the number of estimates among them, which take little time.
func countBefore(c lipsync.Contest, account string, kind lipsync.Kind, now time.Time) (n, quick int) {
	if c.Ahead >= mostAhead {
		return mostAhead, 0
	}
	accounts, ahead := slices.Clone(c.Accounts), c.Ahead
	for i, s := range accounts {
		accounts[i].Held = slices.Clip(s.Held)
		if s.Account == account && s.Kind == kind {
			accounts[i].Waiting, accounts[i].Oldest = ahead+1, cmp.Or(s.Oldest, "~") // a request that isn't stored is the newest
		}
	}
	for ; n < mostAhead; n++ {
		i, ok := lipsync.Turn(accounts)
		if !ok { // the account has no request of the kind in the contest
			break
		}
		next := &accounts[i]
		if next.Account == account && next.Kind == kind {
			ahead--
		}
		if ahead < 0 {
			break
		}
		if next.Kind == lipsync.ToEstimate {
			quick++
		}
		now = now.Add(1) // each claim is later than the one before
		next.Waiting, next.Held, next.Claimed = next.Waiting-1, append(next.Held, lipsync.Hold{Since: now}), now
	}
	return n, quick
}

// heldSince returns since when workers hold the requests of a contest, without estimates.
func heldSince(c lipsync.Contest) (since []time.Time) {
	for _, a := range c.Accounts {
		for _, h := range a.Held {
			if a.Kind != lipsync.ToEstimate {
				since = append(since, h.Since)
			}
		}
	}
	return since
}

// endsOf returns the times until workers end the requests on which they have worked since some time. A request is expected to take the mean time.
// If it takes longer, an eighth of the mean time is expected to be left.
func endsOf(since []time.Time, now time.Time, mean time.Duration) (all []time.Duration) {
	for _, since := range since {
		all = append(all, max(mean-now.Sub(since), mean/8))
	}
	return all
}

// idleOf returns the number of workers of the Pool that are known to be idle now: 1 if the worker that ended a request at the time ended has claimed
// no other one since, and still waits for one, and else 0. A claim since then may be that of another worker. A request that was claimed again since then
// has only the time of its first claim, so the answer can be 1 although that worker is busy with it.
func idleOf(c lipsync.Contest, now, ended time.Time) int {
	busy := 0
	for _, s := range c.Accounts {
		for _, h := range s.Held {
			if !h.Since.Before(ended) {
				return 0
			}
			busy++
		}
	}
	if now.Sub(ended) >= IdleTime(float64(busy)) {
		return 0
	}
	return 1
}

// turn returns the time until one of the workers is free for a request behind ahead others, which take the mean time each.
func turn(free []time.Duration, ahead int, mean time.Duration) time.Duration {
	for range ahead {
		i := soonest(free)
		free[i] += mean
	}
	return free[soonest(free)]
}

// soonest returns the index of the shortest time.
func soonest(times []time.Duration) (index int) {
	for i, t := range times {
		if t < times[index] {
			index = i
		}
	}
	return index
}
