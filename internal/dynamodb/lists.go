package dynamodb

import (
	"context"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// A list has the ids of the requests of an account, or of one reference id in it, in the
// order in which they came. Each bucket is one item with bucketSize ids, but the last. So
// the place of a request tells its bucket, and a write of one item adds a request: it is no
// transaction, and any number of them queue up for the item without forestalling each other.
//
// What older versions made comes before: an item for each request, by its place.

// bucketSize is how many ids a bucket has. It then is smaller than 1 KB, which is one write
// unit of DynamoDB.
const bucketSize = 50

// list is the partition of an account's list, or for a reference id of that
// one's.
func list(account, referenceID string) string {
	if referenceID == "" {
		return "account/" + digest(account)
	}
	return "account/" + digest(account) + "/reference/" + digest(referenceID)
}

// head says where a list ends. No bucket behind bucket has anything.
type head struct {
	older   int64 // places that older versions gave
	bucket  int64
	counted bool // whether all that is open was counted since there are lanes
}

func (h *head) fields() []field {
	return []field{{"total", &h.older}, {"bucket", &h.bucket}, {"counted", &h.counted}}
}

func headKey(list string) item { return key(list, "total") }

func bucketKey(list string, n int64) item { return key(list+"/list/"+strconv.FormatInt(n, 10), "list") }

// full returns how many places come before the last bucket.
func (h head) full() int64 { return h.older + h.bucket*bucketSize }

// bucketOf returns the bucket of a place, from 1, that is no older one.
func (h head) bucketOf(place int64) int64 { return (place - h.older - 1) / bucketSize }

// element is an id as a bucket has it. Ids of other form than the service's take more space.
func element(id string) types.AttributeValue {
	if u, err := uuid.Parse(id); err == nil && u.String() == id {
		return &types.AttributeValueMemberB{Value: u[:]}
	}
	return text(id)
}

// elements returns the ids of a bucket, nil if there is no such bucket.
func elements(bucket item) (ids []string) {
	all, _ := bucket["ids"].(*types.AttributeValueMemberL)
	if all == nil {
		return nil
	}
	for _, v := range all.Value {
		switch v := v.(type) {
		case *types.AttributeValueMemberB:
			u, _ := uuid.FromBytes(v.Value) // 16 bytes, as element has it
			ids = append(ids, u.String())
		case *types.AttributeValueMemberS:
			ids = append(ids, v.Value)
		}
	}
	return ids
}

// enlist puts the id at the end of the list, unless it is there in the bucket or behind it.
// Full buckets don't change, so whoever does the same at the same time adds no second one.
func (s *Store) enlist(ctx context.Context, list string, bucket int64, id string) error {
	for ; ; bucket++ {
		old, err := s.update(ctx, change{
			key: bucketKey(list, bucket), append: item{"ids": &types.AttributeValueMemberL{Value: []types.AttributeValue{element(id)}}},
			condition: "attribute_not_exists(#ids) OR size(#ids) < :full AND NOT contains(#ids, :id)",
			values:    item{"full": number(bucketSize), "id": element(id)}, refused: moved{},
		})
		if err == nil || err != error(moved{}) {
			return err
		}
		if slices.Contains(elements(old), id) {
			return nil
		}
		// The head first: nothing is behind it.
		_, err = s.update(ctx, change{
			key: headKey(list), set: item{"bucket": number(bucket + 1)},
			condition: "attribute_not_exists(#bucket) OR #bucket < :bucket",
		})
		if err != nil {
			return err
		}
	}
}

// enlistAll puts the request into its lists.
func (s *Store) enlistAll(ctx context.Context, r stored) error {
	places := r.places()
	return together(len(places), func(i int) error { return s.enlist(ctx, places[i].list, places[i].bucket, r.ID) })
}

// place is a list, and the bucket in which a request of it is, or behind which.
type place struct {
	list   string
	bucket int64
}

func (r *stored) places() []place {
	all := []place{{list(r.Account, ""), r.bucket}}
	if r.ReferenceID != "" {
		all = append(all, place{list(r.Account, r.ReferenceID), r.referenceBucket})
	}
	return all
}

// makeListed puts the request into the lists in which it is not: whoever made it may have
// ended before. What older versions made is in theirs.
func (s *Store) makeListed(ctx context.Context, r stored) error {
	if r.seq > 0 || r.bucket == inOlder {
		return nil
	}
	var keys []item
	for _, p := range r.places() {
		keys = append(keys, bucketKey(p.list, p.bucket))
	}
	buckets, err := s.getAll(ctx, keys)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(buckets, func(i item) bool { return !slices.Contains(elements(i), r.ID) }) {
		return nil
	}
	return s.enlistAll(ctx, r)
}
