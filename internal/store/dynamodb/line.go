package dynamodb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Line implements lipsync.Leases. It reads what a claim reads. If more requests wait than that, it counts those of the request's account and kind, up to
// limit ÷ queueShards in each shard. For others of which it sees only a part, it returns the limit as the number.
func (s leases) Line(ctx context.Context, r lipsync.Request, among []lipsync.Class, now time.Time, limit int) (l lipsync.Line, err error) {
	counts := func(c lipsync.Class) bool { return slices.Contains(among, c) }
	v, err := s.recentSurvey(ctx, now)
	if err != nil {
		return l, err
	}
	if l.Accounts, err = s.standings(ctx, v, ownerOf(r), counts, now, limit); err != nil {
		return l, err
	}
	own := entry{id: r.ID, created: r.CreatedAt}
	for _, e := range v.waiting[ownerOf(r)] {
		if counts(e.class) && (r.ID == "" || e.id != r.ID && e.before(own) < 0) {
			l.Ahead++
		}
	}
	if !v.whole {
		if l.Ahead, err = s.older(ctx, r, counts, limit); err != nil {
			return l, err
		}
	}
	l.Ahead = min(l.Ahead, limit)
	return l, nil
}

// recentSurvey returns a survey that is younger than SurveyLife. It must not be changed.
func (s *Store) recentSurvey(ctx context.Context, now time.Time) (*survey, error) {
	if s.SurveyLife <= 0 {
		return s.survey(ctx, now, lipsync.Choice{})
	}
	last := &s.lastSurvey
	last.Lock()
	defer last.Unlock()
	if age := now.Sub(last.at); last.survey != nil && age >= 0 && age < s.SurveyLife {
		return last.survey, nil
	}
	v, err := s.survey(ctx, now, lipsync.Choice{})
	if err == nil {
		last.survey, last.at = v, now
	}
	return v, err
}

// standings returns what decides when requests of an owner, and of those in the survey, are claimed, of the classes that count.
func (s *Store) standings(ctx context.Context, v *survey, own owner, counts func(lipsync.Class) bool, now time.Time, limit int) ([]lipsync.Standing, error) {
	all := []lipsync.Standing{{Account: own.account, Kind: own.kind}} // first, since lastClaims reads a limited number
	for _, a := range v.accounts {
		of := owner{a.Account, a.Kind}
		a.Waiting, a.Oldest = 0, ""
		a.Held = slices.DeleteFunc(slices.Clone(a.Held), func(h lipsync.Hold) bool { return !counts(h.Class) })
		for _, e := range v.waiting[of] {
			if counts(e.class) {
				a.Waiting++
				a.Oldest = cmp.Or(a.Oldest, e.age()) // they are sorted by age
			}
		}
		for _, class := range lipsync.Classes() {
			if counts(class) && v.cut[ownerClass{of, class}] && !v.whole {
				a.Waiting = limit
			}
		}
		a.Waiting, a.Claimed = min(a.Waiting, limit), time.Time{}
		if of == own {
			all[0] = a
		} else {
			all = append(all, a)
		}
	}
	return all, s.lastClaims(ctx, all, now)
}

// older counts the requests in the queue that are older than the request, of the same account and kind and the classes that count: up to limit ÷ queueShards in each shard.
func (s *Store) older(ctx context.Context, r lipsync.Request, counts func(lipsync.Class) bool, limit int) (int, error) {
	classes := lipsync.Classes()
	return table.Total(len(classes)*queueShards, func(i int) (int, error) {
		class := classes[i%len(classes)]
		if !counts(class) {
			return 0, nil
		}
		line := lineOf(ownerOf(r), class)
		own := line + table.Padded(r.CreatedAt.UnixMicro()-1) + "0"
		if r.ID == "" {
			own = behind(entry{owner: ownerOf(r), class: class})
		}
		return s.table.Count(ctx, limit/queueShards, inQueue(i/len(classes), line, own))
	})
}
