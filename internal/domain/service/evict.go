package service

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
)

// cache is what the objects with a prefix take, as far as this process knows: those that were deleted since the last look at them count. So most
// requests look at no objects but their own.
type cache struct {
	prefix string // an owner follows
	newest bool   // whether the newest objects go first, since they are of no use without the older ones
	mu     sync.Mutex
	looked bool
	bytes  int64
}

// add adds n bytes and returns the new size. It returns the largest number before the first look.
func (c *cache) add(n int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += n; !c.looked {
		return math.MaxInt64
	}
	return c.bytes
}

// look notes what a look found, during which add may have been called: bytes is the size before it.
func (c *cache) look(before, found int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes, c.looked = found+c.bytes-before, true
}

// cached is an object of a cache.
type cached struct {
	key      string
	modified time.Time
	size     int64
}

// keep notes that n bytes were added to a cache, and shrinks it to most bytes if it is larger now. 0 allows any size.
func (w *Work) keep(ctx context.Context, c *cache, n, most int64) error {
	if most == 0 || c.add(n) <= most {
		return nil
	}
	_, err := w.shrink(ctx, c, most, func() bool { return false })
	return err
}

// shrink deletes findings that are too old, and then objects of the owner that has the most bytes, as long as all together are larger than most,
// unless that is 0 or they are enough. So no owner deletes those of one that has less. It returns how many it deleted.
func (w *Work) shrink(ctx context.Context, c *cache, most int64, enough func() bool) (deleted int, err error) {
	c.mu.Lock()
	before := c.bytes
	c.mu.Unlock()
	all, err := w.listCached(ctx, c)
	if err != nil {
		return 0, err
	}
	trusted := w.Trusted() && c == &w.findings
	old := func(o cached) bool { return trusted && w.Now().Sub(o.modified) >= w.Limits.Keep.Findings }
	owners, sizes := make(map[string][]cached), make(map[string]int64) // in the order in which they go
	var total int64
	var errs []error
	for _, o := range all {
		if old(o) {
			errs, deleted = append(errs, w.Objects.Delete(ctx, o.key)), deleted+1
			continue
		}
		owner, _, _ := strings.Cut(strings.TrimPrefix(o.key, c.prefix), "/")
		owners[owner], sizes[owner], total = append(owners[owner], o), sizes[owner]+o.size, total+o.size
	}
	if most == 0 || total <= most {
		most = total
	} else {
		most -= most / 10 // a tenth more goes, so that not each later request looks at all
	}
	for total > most && !enough() {
		largest := ""
		for owner, size := range sizes {
			if largest == "" || cmp.Or(cmp.Compare(size, sizes[largest]), cmp.Compare(owner, largest)) > 0 {
				largest = owner
			}
		}
		first := owners[largest][0]
		owners[largest], sizes[largest], total = owners[largest][1:], sizes[largest]-first.size, total-first.size
		errs, deleted = append(errs, w.Objects.Delete(ctx, first.key)), deleted+1
	}
	c.look(before, total)
	return deleted, errors.Join(errs...)
}

// listCached returns the objects of a cache in the order in which they go.
func (w *Work) listCached(ctx context.Context, c *cache) (all []cached, err error) {
	err = w.Objects.List(ctx, c.prefix, func(key string, modified time.Time) error {
		all = append(all, cached{key: key, modified: modified})
		return nil
	})
	for i := range all {
		var sizeErr error
		all[i].size, sizeErr = w.Objects.Size(ctx, all[i].key)
		err = errors.Join(err, failure.Unless(failure.NotFound, sizeErr))
	}
	slices.SortFunc(all, func(a, b cached) int { return cmp.Or(a.modified.Compare(b.modified), cmp.Compare(a.key, b.key)) })
	if c.newest {
		slices.Reverse(all)
	}
	return all, err
}

// sweepCaches frees space in the caches until the disk has more than its reserve, which is for requests.
func (w *Work) sweepCaches(ctx context.Context) (err error) {
	free := func() bool { return failure.CodeOf(w.Room(0)) != failure.NoSpace }
	for _, c := range []*cache{&w.findings, &w.pieces} {
		if !free() {
			_, shrunk := w.shrink(ctx, c, 1, free)
			err = errors.Join(err, shrunk)
		}
	}
	return err
}
