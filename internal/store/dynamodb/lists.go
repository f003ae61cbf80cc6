package dynamodb

import (
	"context"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// A list has the ids of an account's requests, or of those with one reference id, in the order of
// their creation. Each bucket of a list is one item with bucketSize ids; the last bucket may have
// fewer. So a request's bucket follows from its place in the list. Adding a request is one write of
// one item without a transaction, so simultaneous additions never conflict.

// bucketSize is the number of ids in a bucket. A bucket of that size stays below 1 KB, which is
// one write unit of DynamoDB.
const bucketSize = 50

// list returns the partition of an owner's list, or of the list for one reference id of it.
func list(of queue.Owner, referenceID string) string {
	if referenceID == "" {
		return "account/" + of.Digest()
	}
	return "account/" + of.Digest() + "/reference/" + table.Digest(referenceID)
}

// head is the item with the number of a list's last bucket. All later buckets are empty.
type head struct{ bucket int64 }

func (h *head) fields() table.Fields { return table.Fields{"bucket": &h.bucket} }

func headKey(list string) table.Item { return table.Key(list, "total") }

func bucketKey(list string, n int64) table.Item {
	return table.Key(list+"/list/"+strconv.FormatInt(n, 10), "list")
}

// full returns the number of places before the last bucket.
func (h head) full() int64 { return h.bucket * bucketSize }

// bucketOf returns the number, from 0, of the bucket that has the place. Places count from 1.
func bucketOf(place int64) int64 { return (place - 1) / bucketSize }

// element returns an id as a bucket stores it. An id in the service's own form is stored as 16
// bytes.
func element(id string) types.AttributeValue {
	if u, err := uuid.Parse(id); err == nil && u.String() == id {
		return &types.AttributeValueMemberB{Value: u[:]}
	}
	return table.Text(id)
}

// elements returns the ids of a bucket, or nil if there is no such bucket.
func elements(bucket table.Item) (ids []string) {
	all, _ := bucket["ids"].(*types.AttributeValueMemberL)
	if all == nil {
		return nil
	}
	for _, v := range all.Value {
		switch v := v.(type) {
		case *types.AttributeValueMemberB:
			u, _ := uuid.FromBytes(v.Value) // 16 bytes, as element wrote them
			ids = append(ids, u.String())
		case *types.AttributeValueMemberS:
			ids = append(ids, v.Value)
		}
	}
	return ids
}

// enlist appends the id to the list, unless it is already in the given bucket or a later one. Full
// buckets don't change, so simultaneous calls with the same id add it only once.
//
// The caller may know the bucket from long ago. So enlist reads the full buckets after it in batches:
// one write to each would be too many for the head's partition when many requests are late.
func (s *Store) enlist(ctx context.Context, list string, bucket int64, id string) error {
	for {
		old, err := s.table.Update(ctx, table.Change{
			Key: bucketKey(list, bucket), Append: table.Item{"ids": &types.AttributeValueMemberL{Value: []types.AttributeValue{element(id)}}},
			Condition: "attribute_not_exists(#ids) OR size(#ids) < :full AND NOT contains(#ids, :id)",
			Values:    table.Item{"full": table.Number(bucketSize), "id": element(id)}, Refused: table.Conflict{},
		})
		if err == nil || err != error(table.Conflict{}) {
			return err
		}
		if slices.Contains(elements(old), id) {
			return nil
		}
		last, err := s.lastBucket(ctx, list)
		if err != nil {
			return err
		}
		if last <= bucket {
			// The head is written before the next bucket, since no list may go on after its head's bucket.
			last = bucket + 1
			_, err = s.table.Update(ctx, table.Change{
				Key: headKey(list), Set: table.Item{"bucket": table.Number(last)},
				Condition: "attribute_not_exists(#bucket) OR #bucket < :bucket",
			})
		}
		if err != nil {
			return err
		}
		if listed, err := s.inBuckets(ctx, list, bucket+1, last, id); listed || err != nil {
			return err
		}
		bucket = last
	}
}

// lastBucket returns the number of the list's last bucket. All buckets before it are full.
func (s *Store) lastBucket(ctx context.Context, list string) (int64, error) {
	found, err := s.table.GetAll(ctx, []table.Item{headKey(list)})
	if err != nil {
		return 0, err
	}
	var h head
	err = table.Decode(found[0], h.fields())
	return h.bucket, err
}

// inBuckets reports whether a bucket of the list from number from to before number end has the id.
func (s *Store) inBuckets(ctx context.Context, list string, from, end int64, id string) (bool, error) {
	var keys []table.Item
	for n := from; n < end; n++ {
		keys = append(keys, bucketKey(list, n))
	}
	buckets, err := s.table.GetAll(ctx, keys)
	return slices.ContainsFunc(buckets, func(i table.Item) bool { return slices.Contains(elements(i), id) }), err
}

// enlistAll adds the request to its lists.
func (s *Store) enlistAll(ctx context.Context, r stored) error {
	places := r.places()
	return table.Together(len(places), func(i int) error {
		return table.RetryConflicts(ctx, func(int) error {
			err := s.enlist(ctx, places[i].list, places[i].bucket, r.ID)
			if failure.CodeOf(err) == failure.RateLimited { // the table has no more writes in this second; enlisting again does no harm
				return table.Conflict{}
			}
			return err
		})
	})
}

// place is a list that has a request, in the bucket or a later one.
type place struct {
	list   string
	bucket int64
}

func (r *stored) places() []place {
	all := []place{{list(queue.OwnerOf(r.Request), ""), r.bucket}}
	if r.ReferenceID != "" {
		all = append(all, place{list(queue.OwnerOf(r.Request), r.ReferenceID), r.referenceBucket})
	}
	return all
}

// makeListed adds the request to its lists if it is missing, because its creator may have stopped
// before that.
func (s *Store) makeListed(ctx context.Context, r stored) error {
	buckets, err := s.table.GetAll(ctx, table.KeysOf(r.places(), func(p place) table.Item { return bucketKey(p.list, p.bucket) }))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(buckets, func(i table.Item) bool { return !slices.Contains(elements(i), r.ID) }) {
		return nil
	}
	return s.enlistAll(ctx, r)
}
