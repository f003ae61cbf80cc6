package dynamodb

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// readHead reads the head of a list and its first bucket, which usually is also the last. The two
// may be read at different times. If the head names a later bucket but the first was not full when
// it was read, readHead leaves the first out of buckets.
func (s *Store) readHead(ctx context.Context, list string) (h head, buckets map[int64][]string, err error) {
	found, err := s.table.GetAll(ctx, []table.Item{headKey(list), bucketKey(list, 0)})
	if err != nil {
		return head{}, nil, err
	}
	buckets = make(map[int64][]string)
	err = table.Decode(found[0], h.fields())
	if ids := elements(found[1]); h.bucket == 0 || len(ids) == bucketSize {
		buckets[0] = ids
	}
	return h, buckets, err
}

// List computes from the head which buckets have the page.
func (s requests) List(ctx context.Context, account, referenceID string, offset int64, limit int) ([]lipsync.Request, int64, error) {
	name := list(queue.Owner{Account: account}, referenceID)
	h, buckets, err := s.readHead(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	if h.bucket > 0 {
		// The size of the last bucket is not known yet, so the page may begin anywhere in this
		// range.
		from := bucketOf(max(1, h.full()-offset-int64(limit)+1))
		to := bucketOf(max(1, min(h.full()+bucketSize-offset, h.full())))
		if err := s.readBuckets(ctx, name, buckets, from, to, h.bucket); err != nil {
			return nil, 0, err
		}
	}
	total := h.full() + int64(len(buckets[h.bucket]))
	last := total - offset
	if last < 1 {
		return nil, total, nil
	}
	var ids []string
	for place := last; place >= max(1, last-int64(limit)+1); place-- {
		ids = append(ids, buckets[bucketOf(place)][(place-1)%bucketSize])
	}
	page, err := s.requests(ctx, ids)
	return page, total, err
}

func (s requests) ListFrom(ctx context.Context, q lipsync.PlaceQuery) ([]lipsync.Request, string, error) {
	if err := q.Check(); err != nil {
		return nil, "", err
	}
	if q.Status != "" {
		return s.statusFrom(ctx, q)
	}
	name := list(queue.Owner{Account: q.Account}, q.ReferenceID)
	h, buckets, err := s.readHead(ctx, name)
	if err != nil {
		return nil, "", err
	}
	var place int64 // the first one of the page; 0 for the list's last, which is not known yet
	if q.Place != "" {
		if place, err = strconv.ParseInt(q.Place, 10, 64); err != nil || place < 1 {
			return nil, "", failure.New(failure.Invalid, "no place of a list")
		}
	}
	if h.bucket > 0 {
		from, to := h.full(), h.full()
		if place > 0 && place <= h.full() {
			from, to = place, place
		}
		if err := s.readBuckets(ctx, name, buckets, bucketOf(max(1, from-int64(q.Limit)+1)), bucketOf(max(1, to)), h.bucket); err != nil {
			return nil, "", err
		}
	}
	if total := h.full() + int64(len(buckets[h.bucket])); place == 0 || place > total {
		place = total
	}
	var ids []string
	for ; place > 0 && len(ids) < q.Limit; place-- {
		ids = append(ids, buckets[bucketOf(place)][(place-1)%bucketSize])
	}
	next := ""
	if place > 0 {
		next = strconv.FormatInt(place, 10)
	}
	page, err := s.requests(ctx, ids)
	return page, next, err
}

// readBuckets reads the last bucket, and those numbered between from and to (both included) that
// are not known yet. It adds them to known.
func (s *Store) readBuckets(ctx context.Context, list string, known map[int64][]string, from, to, last int64) error {
	numbers := []int64{last}
	for n := from; n <= to; n++ {
		if _, ok := known[n]; !ok && n != last {
			numbers = append(numbers, n)
		}
	}
	found, err := s.table.GetAll(ctx, table.KeysOf(numbers, func(n int64) table.Item { return bucketKey(list, n) }))
	for i, n := range numbers {
		if err == nil {
			known[n] = elements(found[i])
		}
	}
	return err
}

// listed has the attributes of a request that is Listed.
var listed = func() string {
	names := []string{"#" + table.PartitionKey, "#" + table.SortKey, "#holder", "#leaseUntil"}
	for name := range new(stored).fields() {
		if !slices.Contains([]string{"tracks", "options", "targets", "unsynced"}, name) {
			names = append(names, "#"+name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}()

// requests returns the requests with the ids, Listed and without their leases.
func (s *Store) requests(ctx context.Context, ids []string) ([]lipsync.Request, error) {
	return table.Existing(ctx, s.table, table.KeysOf(ids, requestKey), listed, func(i table.Item) (lipsync.Request, error) {
		r, err := decodeRequest(i, nil)
		return r.Request, err
	})
}

func (s requests) ByReference(ctx context.Context, account, referenceID string) (lipsync.Request, error) {
	if referenceID == "" {
		return lipsync.Request{}, table.NotFound()
	}
	name := list(queue.Owner{Account: account}, referenceID)
	h, buckets, err := s.readHead(ctx, name)
	if err != nil {
		return lipsync.Request{}, err
	}
	if h.bucket > 0 {
		if err := s.readBuckets(ctx, name, buckets, h.bucket-1, h.bucket-1, h.bucket); err != nil {
			return lipsync.Request{}, err
		}
	}
	for _, id := range slices.Backward(append(buckets[h.bucket-1], buckets[h.bucket]...)) {
		if r, err := s.ByID(ctx, id); failure.CodeOf(err) != failure.NotFound { // otherwise it was erased
			return r, err
		}
	}
	return lipsync.Request{}, table.NotFound()
}
