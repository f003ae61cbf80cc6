package dynamodb

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/lipsync"
)

func keyFields(k *lipsync.Key) []field {
	return []field{
		{"id", &k.ID}, {"account", &k.Account}, {"name", &k.Name}, {"hash", &k.Hash},
		{"createdAt", &k.CreatedAt}, {"lastUsed", &k.LastUsed}, {"revokedAt", &k.RevokedAt},
		{"limit", &k.Limit}, {"used", &k.Used},
	}
}

// hashKey is where a key is kept. All else that is known of it is found there.
func hashKey(hash [32]byte) item {
	return key("key/"+base64.RawURLEncoding.EncodeToString(hash[:]), "key")
}

// keyPointer is where the key's account and hash are kept, which never change.
func keyPointer(id string) item { return key("keyid/"+digest(id), "key") }

// allKeys is the partition of the index that has a pointer to each key. In the table it is
// where older versions kept all pointers, by id; those are there still.
const allKeys = "keys"

func oldKeyPointer(id string) item { return key(allKeys, "key/"+id) }

// listedKey is the pointer to the key in the partition of its account.
func listedKey(account, id string) item { return key(allKeys+"/"+digest(account), "key/"+id) }

// CreateKey implements lipsync.Keys.
func (s *Store) CreateKey(ctx context.Context, k lipsync.Key) error {
	exists := errors.New("the key exists already")
	pointer := func(key item) item {
		return with(encode([]field{{"account", &k.Account}, {"hash", &k.Hash}}), key)
	}
	listed := pointer(listedKey(k.Account, k.ID))
	listed[OpenPartition], listed[OpenSort] = text(allKeys), text(k.ID)
	return patiently(ctx, func(int) error {
		return s.transact(ctx, []step{
			s.put(with(encode(keyFields(&k)), hashKey(k.Hash)), "attribute_not_exists(#pk)", nil, exists),
			s.put(pointer(keyPointer(k.ID)), "attribute_not_exists(#pk)", nil, exists),
			s.put(listed, "attribute_not_exists(#pk)", nil, exists),
		})
	})
}

// KeyByHash implements lipsync.Keys.
func (s *Store) KeyByHash(ctx context.Context, hash [32]byte) (k lipsync.Key, err error) {
	i, err := s.get(ctx, hashKey(hash))
	if err != nil {
		return lipsync.Key{}, err
	}
	err = decode(i, keyFields(&k))
	return k, err
}

// pointer says where the key with the id is, and whose it is.
func (s *Store) pointer(ctx context.Context, id string) (account string, key item, err error) {
	i, err := s.get(ctx, keyPointer(id))
	if lipsync.CodeOf(err) == lipsync.NotFound {
		i, err = s.get(ctx, oldKeyPointer(id))
	}
	if err != nil {
		return "", nil, err
	}
	var hash [32]byte
	err = decode(i, []field{{"account", &account}, {"hash", &hash}})
	return account, hashKey(hash), err
}

// TouchKey implements lipsync.Keys.
func (s *Store) TouchKey(ctx context.Context, id string, at time.Time) error {
	_, key, err := s.pointer(ctx, id)
	if lipsync.CodeOf(err) == lipsync.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = s.update(ctx, change{
		key: key, set: item{"lastUsed": micros(at)},
		condition: "attribute_not_exists(#lastUsed) OR #lastUsed < :lastUsed",
	})
	return err
}

// RevokeKey implements lipsync.Keys.
func (s *Store) RevokeKey(ctx context.Context, account, id string, at time.Time) error {
	owner, key, err := s.pointer(ctx, id)
	if err != nil {
		return err
	}
	if account != "" && account != owner {
		return notFound()
	}
	_, err = s.update(ctx, change{
		key: key, set: item{"revokedAt": micros(at)}, condition: "attribute_not_exists(#revokedAt)",
	})
	return err
}

// ListKeys implements lipsync.Keys. Of all accounts a key that was just made may be
// missing.
func (s *Store) ListKeys(ctx context.Context, account string) ([]lipsync.Key, error) {
	made := &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :keys"),
		ExpressionAttributeValues: item{":keys": listedKey(account, "")[PartitionKey]},
		ConsistentRead:            aws.Bool(true),
	}
	older := &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :keys"),
		FilterExpression:          aws.String("#account = :account"),
		ExpressionAttributeValues: item{":keys": text(allKeys), ":account": text(account)},
		ConsistentRead:            aws.Bool(true),
	}
	if account == "" {
		made = &dynamodb.QueryInput{
			IndexName:                 aws.String(OpenIndex),
			KeyConditionExpression:    aws.String("#open = :keys"),
			ExpressionAttributeValues: item{":keys": text(allKeys)},
		}
		older.FilterExpression = nil
		delete(older.ExpressionAttributeValues, ":account")
	}
	var where []item
	for _, in := range []*dynamodb.QueryInput{made, older} {
		for i, err := range s.query(ctx, math.MaxInt, in) {
			var k lipsync.Key
			if err = errors.Join(err, decode(i, keyFields(&k))); err != nil {
				return nil, err
			}
			where = append(where, hashKey(k.Hash))
		}
	}
	found, err := s.getAll(ctx, where)
	if err != nil {
		return nil, err
	}
	var keys []lipsync.Key
	for _, i := range found {
		var k lipsync.Key
		if err := decode(i, keyFields(&k)); err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if err := s.subtractFreed(ctx, keys); err != nil {
		return nil, err
	}
	slices.SortStableFunc(keys, func(a, b lipsync.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return keys, nil
}
