package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type uploads struct{ *Store }

func uploadFields(u *lipsync.Upload) fields {
	return fields{
		"id": &u.ID, "account": &u.Account, "kind": (*string)(&u.Kind), "size": &u.Size,
		"contentType": &u.ContentType, "name": &u.Name, "object": &u.Object,
		"createdAt": &u.CreatedAt, "expiresAt": &u.ExpiresAt, "requestID": &u.RequestID, "dropped": &u.Dropped,
	}
}

// uploadKey is the key of the item that stores the upload. The id may be any text of a client.
func uploadKey(id string) item { return key("upload/"+digest(id), "upload") }

// openUploads is the partition of the index, in shards, that has uploads by their expiry.
const openUploads = "upload"

func endSort(id string, expires time.Time) string { return padded(expires.UnixMicro()) + "/" + id }

// Create implements lipsync.Uploads. The record has no TimeToLive, because only the sweep
// subtracts an upload's bytes from those that the account stores, however late it runs.
func (s uploads) Create(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) error {
	i := with(encode(uploadFields(&u)), uploadKey(u.ID))
	i[OpenPartition], i[OpenSort] = text(shard(openUploads, shardOf(u.ID, uploadShards))), text(endSort(u.ID, u.ExpiresAt))
	taken := errors.New("the upload exists already")
	return retryConflicts(ctx, func(int) error {
		steps, err := s.announce(ctx, u, limits)
		if err != nil {
			return err
		}
		return s.transact(ctx, append(steps, s.put(i, "attribute_not_exists(#pk)", nil, taken)))
	})
}

// useUpload assigns the upload to the request, and sets its new expiry.
func useUpload(id string, r lipsync.Request, life time.Duration) change {
	end := r.CreatedAt.Add(life)
	return change{
		key: uploadKey(id),
		set: item{"requestID": text(r.ID), "expiresAt": micros(end), OpenSort: text(endSort(id, end))},
		// Without this condition, an update would create a part of an upload that was deleted.
		condition: "attribute_exists(#pk) AND attribute_not_exists(#dropped)", refused: failure.New(failure.Invalid, "upload is gone"),
	}
}

func (s uploads) ByID(ctx context.Context, id string) (lipsync.Upload, error) {
	return one(ctx, s.Store, uploadKey(id), decoder(uploadFields))
}

// Expired implements lipsync.Uploads. The index may still have the old expiry of an upload that got
// more time, so Expired takes only the ids from it.
func (s uploads) Expired(ctx context.Context, now time.Time, after lipsync.Upload, limit int) ([]lipsync.Upload, error) {
	from := endSort(after.ID, time.UnixMicro(max(0, after.ExpiresAt.UnixMicro())))
	for {
		ends, err := s.uploadsUntil(ctx, now, from, limit)
		if err != nil {
			return nil, err
		}
		var keys []item
		for _, f := range ends {
			keys, from = append(keys, uploadKey(f.id)), f.sort
		}
		expired, err := s.expired(ctx, keys, now)
		if err != nil || len(expired) > 0 || len(keys) < limit {
			return expired, err
		}
	}
}

// uploadsUntil returns the first uploads of all shards, after a place, whose expiry in the index
// is not after now.
func (s *Store) uploadsUntil(ctx context.Context, now time.Time, from string, limit int) ([]found, error) {
	all, err := gather(uploadShards, func(n int) ([]found, error) {
		return s.collect(ctx, limit, inIndex(shard(openUploads, n), "BETWEEN :from AND :now", item{":from": text(from + " "), ":now": text(padded(now.UnixMicro()))}))
	})
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.sort, b.sort) })
	return all[:min(len(all), limit)], err
}

// expired returns those of the uploads with the keys that have expired.
func (s *Store) expired(ctx context.Context, keys []item, now time.Time) ([]lipsync.Upload, error) {
	all, err := existing(ctx, s, keys, decoder(uploadFields))
	return slices.DeleteFunc(all, func(u lipsync.Upload) bool { return !u.ExpiresAt.Before(now) }), err
}

func (s uploads) Drop(ctx context.Context, u lipsync.Upload, expires time.Time) error {
	now, err := s.update(ctx, change{
		key: uploadKey(u.ID),
		set: item{
			"dropped": &types.AttributeValueMemberBOOL{Value: true}, "expiresAt": micros(expires), OpenSort: text(endSort(u.ID, expires)),
		},
		condition: "#requestID = :seen", values: item{"seen": text(u.RequestID)},
		refused: failure.New(failure.Conflict, "another request uses the upload"),
	})
	if failure.CodeOf(err) == failure.Conflict && now == nil {
		return nil // it has been deleted already
	}
	return err
}

func (s uploads) Delete(ctx context.Context, u lipsync.Upload) error {
	gone := errors.New("the upload is gone")
	err := retryConflicts(ctx, func(int) error {
		return s.transact(ctx, []step{
			s.remove(uploadKey(u.ID), "attribute_exists(#pk)", gone),
			change{key: uploadLane(u.Account, u.ID), add: item{"size": number(-u.Size)}}.step(s.table),
		})
	})
	if err == gone {
		return nil
	}
	return err
}

// remove returns the step that deletes an item.
func (s *Store) remove(key item, condition string, refused error) step {
	return step{types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: key,
		ConditionExpression: orNil(condition), ExpressionAttributeNames: names(condition),
	}}, refused}
}
