package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Postponed returns the ids of up to limit requests that are postponed until a time after the argument after, or may be. The list begins with those
// that can be claimed soonest.
func (q *Queue) Postponed(ctx context.Context, after time.Time, limit int) ([]string, error) {
	all, err := table.Gather(queueShards, func(n int) ([]entry, error) {
		return q.readEntries(ctx, limit, table.InIndex(table.Shard(held, n), "> :after", table.Item{":after": table.Text(postponed + table.Padded(max(0, after.UnixMicro())+1))}))
	})
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.place, b.place) })
	return idsOf(all[:min(len(all), limit)]), err
}

// Claimable returns the ids of requests that may be claimable at now, oldest first. They may be more than the limit. If more requests wait in a shard than the limit, it reads them
// in the order of claims.
func (q *Queue) Claimable(ctx context.Context, now time.Time, limit int) ([]string, error) {
	page := max(limit, entryPage)
	all, err := table.Gather(queueShards, func(n int) ([]entry, error) {
		waiting, err := q.waitingIn(ctx, n, page, lipsync.Classes())
		if err != nil {
			return nil, err
		}
		isHeld, err := q.readEntries(ctx, page, heldAt(n, now))
		return append(waiting, slices.DeleteFunc(isHeld, func(e entry) bool { return e.until.After(now) })...), err
	})
	slices.SortFunc(all, entry.before)
	return slices.Compact(idsOf(all)), err // a request that was claimed or released between the two queries may be in both
}

func idsOf(all []entry) (ids []string) {
	for _, e := range all {
		ids = append(ids, e.id)
	}
	return ids
}
