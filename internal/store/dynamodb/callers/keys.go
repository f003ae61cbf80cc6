// Package callers says who calls, and how often they may: API keys with their uses, the rates of calls, the calls that are noted, and the
// generations of sessions.
//
// It may import lipsync, failures and package table.
package callers

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

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Keys stores API keys in the table.
type Keys struct{ Table *table.Table }

func keyFields(k *lipsync.Key) table.Fields {
	return table.Fields{
		"id": &k.ID, "account": &k.Account, "name": &k.Name, "hash": &k.Hash,
		"createdAt": &k.CreatedAt, "lastUsed": &k.LastUsed, "revokedAt": &k.RevokedAt, "expiresAt": &k.ExpiresAt, "readOnly": &k.ReadOnly,
		"limit": &k.Limit, "used": &k.Used, "start": &k.Start,
	}
}

// hashKey is the key of the item that stores an API key.
func hashKey(hash [32]byte) table.Item {
	return table.Key(hashes+base64.RawURLEncoding.EncodeToString(hash[:]), "key")
}

// keyPointer is the key of the item that stores the API key's account and hash, which never
// change.
func keyPointer(id string) table.Item { return table.Key(ids+table.Digest(id), "key") }

// allKeys is the partition of the index that has a pointer to each API key, in shards.
const allKeys = "keys"

// keyShards is the number of these shards. It must not change: stored data depends on it.
const keyShards = 8

// listedKey is the key of the pointer to the API key in its account's partition.
func listedKey(account, id string) table.Item {
	return table.Key(listed+table.Digest(account), "key/"+id)
}

// pointers returns both pointers to an API key: by its id, and in its account's partition.
func pointers(k lipsync.Key) []table.Item {
	unlimited := k.Limit == 0
	byID := table.With(table.Encode(table.Fields{"account": &k.Account, "hash": &k.Hash, "unlimited": &unlimited}), keyPointer(k.ID))
	listed := table.With(table.Encode(table.Fields{"account": &k.Account, "hash": &k.Hash}), listedKey(k.Account, k.ID))
	listed[table.OpenPartition], listed[table.OpenSort] = table.Text(table.Shard(allKeys, table.ShardOf(k.ID, keyShards))), table.Text(k.ID)
	return []table.Item{byID, listed}
}

func (s Keys) Create(ctx context.Context, k lipsync.Key) error {
	exists := errors.New("the key exists already")
	steps := []table.Step{s.Table.PutStep(table.With(table.Encode(keyFields(&k)), hashKey(k.Hash)), "attribute_not_exists(#pk)", nil, exists)}
	for _, i := range pointers(k) {
		steps = append(steps, s.Table.PutStep(i, "attribute_not_exists(#pk)", nil, exists))
	}
	return table.RetryConflicts(ctx, func(int) error { return s.Table.Transact(ctx, steps) })
}

func (s Keys) ByHash(ctx context.Context, hash [32]byte) (lipsync.Key, error) {
	return table.One(ctx, s.Table, hashKey(hash), table.Decoder(keyFields))
}

// pointer returns the account of the API key with the id, and the key of the item that stores it.
func (s Keys) pointer(ctx context.Context, id string) (account string, key table.Item, err error) {
	i, err := s.Table.Get(ctx, keyPointer(id))
	if err != nil {
		return "", nil, err
	}
	var hash [32]byte
	err = table.Decode(i, table.Fields{"account": &account, "hash": &hash})
	return account, hashKey(hash), err
}

func (s Keys) Touch(ctx context.Context, id string, at time.Time) error {
	_, key, err := s.pointer(ctx, id)
	if failure.CodeOf(err) == failure.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = s.Table.Update(ctx, table.Change{
		Key: key, Set: table.Item{"lastUsed": table.Micros(at)},
		Condition: "attribute_not_exists(#lastUsed) OR #lastUsed < :lastUsed",
	})
	return err
}

func (s Keys) Revoke(ctx context.Context, account, id string, at time.Time) error {
	owner, key, err := s.pointer(ctx, id)
	if err != nil {
		return err
	}
	if account != "" && account != owner {
		return table.NotFound()
	}
	_, err = s.Table.Update(ctx, table.Change{
		Key: key, Set: table.Item{"revokedAt": table.Micros(at)}, Condition: "attribute_not_exists(#revokedAt)",
	})
	return err
}

// keyQueries returns the queries for the pointers to the account's keys, or for "" to all keys.
func keyQueries(account string) []*dynamodb.QueryInput {
	if account == "" {
		var all []*dynamodb.QueryInput
		for n := range keyShards {
			all = append(all, table.InPartition(table.Shard(allKeys, n)))
		}
		return all
	}
	return []*dynamodb.QueryInput{{
		KeyConditionExpression:    aws.String("#pk = :keys"),
		ExpressionAttributeValues: table.Item{":keys": listedKey(account, "")[table.PartitionKey]},
		ConsistentRead:            aws.Bool(true),
	}}
}

// List lists the keys of an account. In that of all accounts ("") a key that was just made may
// be missing.
func (s Keys) List(ctx context.Context, account string) ([]lipsync.Key, error) {
	queries := keyQueries(account)
	pointers, err := table.Gather(len(queries), func(n int) ([]lipsync.Key, error) {
		return table.Many(ctx, s.Table, math.MaxInt, queries[n], table.Decoder(keyFields))
	})
	if err != nil {
		return nil, err
	}
	keys, err := table.Existing(ctx, s.Table, table.KeysOf(pointers, func(k lipsync.Key) table.Item { return hashKey(k.Hash) }), "", table.Decoder(keyFields))
	if err != nil {
		return nil, err
	}
	if err := s.countUses(ctx, keys); err != nil {
		return nil, err
	}
	slices.SortStableFunc(keys, func(a, b lipsync.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return keys, nil
}
