package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/lipsync"
)

func uploadFields(u *lipsync.Upload) []field {
	return []field{
		{"id", &u.ID}, {"account", &u.Account}, {"kind", (*string)(&u.Kind)}, {"size", &u.Size},
		{"contentType", &u.ContentType}, {"object", &u.Object},
		{"createdAt", &u.CreatedAt}, {"expiresAt", &u.ExpiresAt}, {"requestID", &u.RequestID}, {"dropped", &u.Dropped},
	}
}

// uploadKey is where the upload is kept. Its id may be any text of a client's.
func uploadKey(id string) item { return key("upload/"+digest(id), "upload") }

// openUploads is the partition of the index that has uploads by their end.
const openUploads = "upload"

func endSort(id string, expires time.Time) string { return padded(expires.UnixMicro()) + "/" + id }

// CreateUpload implements lipsync.Uploads.
func (s *Store) CreateUpload(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) error {
	i := with(encode(uploadFields(&u)), uploadKey(u.ID))
	i[OpenPartition], i[OpenSort] = text(openUploads), text(endSort(u.ID, u.ExpiresAt))
	i["counted"] = &types.AttributeValueMemberBOOL{Value: true}
	taken := errors.New("the upload exists already")
	return patiently(ctx, func(int) error {
		count := change{key: uploadedKey(u.Account), add: item{"size": number(u.Size)}, refused: moved{}}
		if limits.Stored > 0 {
			all, outputs, err := s.stored(ctx, u.Account, u.CreatedAt, limits)
			if err != nil {
				return err
			}
			if all+u.Size > limits.Stored {
				return refusal(lipsync.StorageLimit, "too many bytes stored")
			}
			count.condition = "attribute_not_exists(#size) OR #size <= :most"
			count.values = item{"most": number(limits.Stored - outputs - u.Size)}
		}
		return s.transact(ctx, []step{s.put(i, "attribute_not_exists(#pk)", nil, taken), count.step(s.table)})
	})
}

// useUpload gives the upload to the request, and a new end.
func useUpload(id string, r lipsync.Request, life time.Duration) change {
	end := r.CreatedAt.Add(life)
	return change{
		key: uploadKey(id),
		set: item{"requestID": text(r.ID), "expiresAt": micros(end), OpenSort: text(endSort(id, end))},
		// An upload that was deleted is not to come back as half of one.
		condition: "attribute_exists(#pk) AND attribute_not_exists(#dropped)", refused: refusal(lipsync.Invalid, "upload is gone"),
	}
}

// GetUpload implements lipsync.Uploads.
func (s *Store) GetUpload(ctx context.Context, id string) (u lipsync.Upload, err error) {
	i, err := s.get(ctx, uploadKey(id))
	if err != nil {
		return lipsync.Upload{}, err
	}
	err = decode(i, uploadFields(&u))
	return u, err
}

// ExpiredUploads implements lipsync.Uploads. The index may not know yet that an
// upload got more time, so it is asked only for the ids.
func (s *Store) ExpiredUploads(ctx context.Context, now time.Time, after lipsync.Upload, limit int) ([]lipsync.Upload, error) {
	from := endSort(after.ID, time.UnixMicro(max(0, after.ExpiresAt.UnixMicro())))
	for {
		var keys []item
		for i, err := range s.query(ctx, limit, &dynamodb.QueryInput{
			IndexName:              aws.String(OpenIndex),
			KeyConditionExpression: aws.String("#open = :uploads AND #openAt BETWEEN :from AND :now"),
			ExpressionAttributeValues: item{
				":uploads": text(openUploads), ":from": text(from + " "), ":now": text(padded(now.UnixMicro())),
			},
		}) {
			if err != nil {
				return nil, err
			}
			keys = append(keys, keyOf(i))
			err = decode(i, []field{{OpenSort, &from}})
			if err != nil {
				return nil, err
			}
		}
		expired, err := s.expired(ctx, keys, now)
		if err != nil || len(expired) > 0 || len(keys) < limit {
			return expired, err
		}
	}
}

// expired returns the uploads with the keys that expired.
func (s *Store) expired(ctx context.Context, keys []item, now time.Time) (expired []lipsync.Upload, err error) {
	found, err := s.getAll(ctx, keys)
	for _, i := range found {
		var u lipsync.Upload
		err = errors.Join(err, decode(i, uploadFields(&u)))
		if i != nil && u.ExpiresAt.Before(now) {
			expired = append(expired, u)
		}
	}
	return expired, err
}

// DropUpload implements lipsync.Uploads.
func (s *Store) DropUpload(ctx context.Context, u lipsync.Upload, expires time.Time) error {
	now, err := s.update(ctx, change{
		key: uploadKey(u.ID),
		set: item{
			"dropped": &types.AttributeValueMemberBOOL{Value: true}, "expiresAt": micros(expires), OpenSort: text(endSort(u.ID, expires)),
		},
		condition: "#requestID = :seen", values: item{"seen": text(u.RequestID)},
		refused: refusal(lipsync.Conflict, "another request uses the upload"),
	})
	if lipsync.CodeOf(err) == lipsync.Conflict && now == nil {
		return nil // it is gone
	}
	return err
}

// DeleteUpload implements lipsync.Uploads.
func (s *Store) DeleteUpload(ctx context.Context, u lipsync.Upload) error {
	uncounted := errors.New("the upload was not counted, or is gone")
	err := patiently(ctx, func(int) error {
		return s.transact(ctx, []step{
			s.remove(uploadKey(u.ID), "attribute_exists(#counted)", uncounted),
			change{key: uploadedKey(u.Account), add: item{"size": number(-u.Size)}}.step(s.table),
		})
	})
	if err != uncounted {
		return err
	}
	// An older version announced it, if anybody did.
	_, err = s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: uploadKey(u.ID)})
	return s.explain(err)
}

// remove deletes an item.
func (s *Store) remove(key item, condition string, refused error) step {
	return step{types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: key,
		ConditionExpression: aws.String(condition), ExpressionAttributeNames: names(condition),
	}}, refused}
}
