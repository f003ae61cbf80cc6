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
	"lipsync/internal/store/dynamodb/table"
)

type uploads struct{ *Store }

func uploadFields(u *lipsync.Upload) table.Fields {
	return table.Fields{
		"id": &u.ID, "account": &u.Account, "kind": (*string)(&u.Kind), "size": &u.Size,
		"contentType": &u.ContentType, "name": &u.Name, "object": &u.Object,
		"createdAt": &u.CreatedAt, "expiresAt": &u.ExpiresAt, "requestID": &u.RequestID, "dropped": &u.Dropped,
	}
}

// uploadKey is the key of the item that stores the upload. The id may be any text of a client.
func uploadKey(id string) table.Item { return table.Key("upload/"+table.Digest(id), "upload") }

// openUploads is the partition of the index, in shards, that has uploads by their expiry.
const openUploads = "upload"

// Create writes the record. That has no TimeToLive, because only the sweep
// subtracts an upload's bytes from those that the account stores, however late it runs.
func (s uploads) Create(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) error {
	i := table.With(table.Encode(uploadFields(&u)), uploadKey(u.ID))
	i[table.OpenPartition], i[table.OpenSort] = table.Text(table.Shard(openUploads, table.ShardOf(u.ID, uploadShards))), table.Text(table.Place(u.ExpiresAt, u.ID))
	taken := errors.New("the upload exists already")
	return table.RetryConflicts(ctx, func(int) error {
		steps, err := s.announce(ctx, u, limits)
		if err != nil {
			return err
		}
		return s.table.Transact(ctx, append(steps, s.table.PutStep(i, "attribute_not_exists(#pk)", nil, taken)))
	})
}

// useUpload assigns the upload to the request, and sets its new expiry.
func useUpload(id string, r lipsync.Request, life time.Duration) table.Change {
	end := r.CreatedAt.Add(life)
	return table.Change{
		Key: uploadKey(id),
		Set: table.Item{"requestID": table.Text(r.ID), "expiresAt": table.Micros(end), table.OpenSort: table.Text(table.Place(end, id))},
		// Without this condition, an update would create a part of an upload that was deleted.
		Condition: "attribute_exists(#pk) AND attribute_not_exists(#dropped)", Refused: failure.New(failure.Invalid, "upload is gone"),
	}
}

func (s uploads) ByID(ctx context.Context, id string) (lipsync.Upload, error) {
	return table.One(ctx, s.table, uploadKey(id), table.Decoder(uploadFields))
}

// Expired reads ids in an index. That may still have the old expiry of an upload that got
// more time, so the uploads are read by their ids.
func (s uploads) Expired(ctx context.Context, now time.Time, after lipsync.Upload, limit int) ([]lipsync.Upload, error) {
	from := table.Place(time.UnixMicro(max(0, after.ExpiresAt.UnixMicro())), after.ID)
	for {
		ends, err := s.uploadsUntil(ctx, now, from, limit)
		if err != nil {
			return nil, err
		}
		var keys []table.Item
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
	all, err := table.Gather(uploadShards, func(n int) ([]found, error) {
		return s.collect(ctx, limit, table.InIndex(table.Shard(openUploads, n), "BETWEEN :from AND :now", table.Item{":from": table.Text(from + " "), ":now": table.Text(table.Padded(now.UnixMicro()))}))
	})
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.sort, b.sort) })
	return all[:min(len(all), limit)], err
}

// expired returns those of the uploads with the keys that have expired.
func (s *Store) expired(ctx context.Context, keys []table.Item, now time.Time) ([]lipsync.Upload, error) {
	all, err := table.Existing(ctx, s.table, keys, "", table.Decoder(uploadFields))
	return slices.DeleteFunc(all, func(u lipsync.Upload) bool { return !u.ExpiresAt.Before(now) }), err
}

func (s uploads) Drop(ctx context.Context, u lipsync.Upload, expires time.Time) error {
	now, err := s.table.Update(ctx, table.Change{
		Key: uploadKey(u.ID),
		Set: table.Item{
			"dropped": &types.AttributeValueMemberBOOL{Value: true}, "expiresAt": table.Micros(expires), table.OpenSort: table.Text(table.Place(expires, u.ID)),
		},
		Condition: "#requestID = :seen", Values: table.Item{"seen": table.Text(u.RequestID)},
		Refused: failure.New(failure.Conflict, "another request uses the upload"),
	})
	if failure.CodeOf(err) == failure.Conflict && now == nil {
		return nil // it has been deleted already
	}
	return err
}

func (s uploads) Delete(ctx context.Context, u lipsync.Upload) error {
	gone := errors.New("the upload is gone")
	err := table.RetryConflicts(ctx, func(int) error {
		return s.table.Transact(ctx, []table.Step{
			s.table.DeleteStep(uploadKey(u.ID), "attribute_exists(#pk)", gone),
			s.table.UpdateStep(table.Change{Key: uploadLane(u.Account, u.ID), Add: table.Item{"size": table.Number(-u.Size)}}),
		})
	})
	if err == gone {
		return nil
	}
	return err
}
