package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Contest reads what a claim reads. If more requests wait than that, it counts those of the request's account and kind, up to
// limit ÷ queueShards in each shard. For others of which it sees only a part, it returns the limit as the number.
func (q *Queue) Contest(ctx context.Context, r lipsync.Request, among []lipsync.Class, now time.Time, limit int) (contest lipsync.Contest, err error) {
	counts := func(c lipsync.Class) bool { return slices.Contains(among, c) }
	v, err := q.recentSurvey(ctx, now)
	if err != nil {
		return contest, err
	}
	if contest.Accounts, err = q.standings(ctx, v, OwnerOf(r), counts, now, limit); err != nil {
		return contest, err
	}
	own := entry{id: r.ID, created: r.CreatedAt}
	for _, e := range v.waiting[OwnerOf(r)] {
		if counts(e.class) && (r.ID == "" || e.id != r.ID && e.before(own) < 0) {
			contest.Ahead++
		}
	}
	if !v.whole {
		if contest.Ahead, err = q.older(ctx, r, counts, limit); err != nil {
			return contest, err
		}
	}
	contest.Ahead = min(contest.Ahead, limit)
	return contest, nil
}

// recentSurvey returns a survey that is younger than SurveyLife. It must not be changed.
func (q *Queue) recentSurvey(ctx context.Context, now time.Time) (*Survey, error) {
	if q.SurveyLife <= 0 {
		return q.survey(ctx, now, lipsync.Choice{})
	}
	last := &q.lastSurvey
	last.Lock()
	defer last.Unlock()
	if age := now.Sub(last.at); last.Survey != nil && age >= 0 && age < q.SurveyLife {
		return last.Survey, nil
	}
	v, err := q.survey(ctx, now, lipsync.Choice{})
	if err == nil {
		last.Survey, last.at = v, now
	}
	return v, err
}

// standings returns what decides when requests of an owner, and of those in the survey, are claimed, of the classes that count.
func (q *Queue) standings(ctx context.Context, v *Survey, own Owner, counts func(lipsync.Class) bool, now time.Time, limit int) ([]lipsync.Standing, error) {
	all := []lipsync.Standing{{Account: own.Account, Kind: own.Kind}} // first, since lastClaims reads a limited number
	for _, a := range v.accounts {
		of := Owner{a.Account, a.Kind}
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
	return all, q.lastClaims(ctx, all, now)
}

// older counts the requests in the queue that are older than the request, of the same account and kind and the classes that count: up to limit ÷ queueShards in each shard.
func (q *Queue) older(ctx context.Context, r lipsync.Request, counts func(lipsync.Class) bool, limit int) (int, error) {
	classes := lipsync.Classes()
	return table.Total(len(classes)*queueShards, func(i int) (int, error) {
		class := classes[i%len(classes)]
		if !counts(class) {
			return 0, nil
		}
		prefix := prefixOf(OwnerOf(r), class)
		own := prefix + table.Padded(r.CreatedAt.UnixMicro()-1) + "0"
		if r.ID == "" {
			own = behind(entry{owner: OwnerOf(r), class: class})
		}
		return q.table.Count(ctx, limit/queueShards, inQueue(i/len(classes), prefix, own))
	})
}
