package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/lipsync"
)

func uploadFields(u *lipsync.Upload) []field {
	return []field{
		{"id", &u.ID}, {"account", &u.Account}, {"kind", (*string)(&u.Kind)}, {"size", &u.Size},
		{"contentType", &u.ContentType}, {"object", &u.Object},
		{"createdAt", &u.CreatedAt}, {"expiresAt", &u.ExpiresAt}, {"requestID", &u.RequestID},
	}
}

// uploadKey is where the upload is kept. Its id may be any text of a client's.
func uploadKey(id string) item { return key("upload/"+digest(id), "upload") }

// openUploads is the partition of the index that has uploads by their end.
const openUploads = "upload"

func endSort(id string, expires time.Time) string { return padded(expires.UnixMicro()) + "/" + id }

// CreateUpload implements lipsync.Uploads.
func (s *Store) CreateUpload(ctx context.Context, u lipsync.Upload) error {
	i := with(encode(uploadFields(&u)), uploadKey(u.ID))
	i[OpenPartition], i[OpenSort] = text(openUploads), text(endSort(u.ID, u.ExpiresAt))
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: i})
	return s.explain(err)
}

// useUpload gives the upload to the request, and a new end.
func useUpload(id string, r lipsync.Request) change {
	end := r.CreatedAt.Add(lipsync.UploadLife)
	return change{
		key: uploadKey(id),
		set: item{"requestID": text(r.ID), "expiresAt": micros(end), OpenSort: text(endSort(id, end))},
		// An upload that was deleted is not to come back as half of one.
		condition: "attribute_exists(#pk)", refused: refusal(lipsync.Invalid, "upload is gone"),
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
func (s *Store) ExpiredUploads(ctx context.Context, now time.Time, limit int) ([]lipsync.Upload, error) {
	var keys []item
	for i, err := range s.query(ctx, limit, &dynamodb.QueryInput{
		IndexName:                 aws.String(OpenIndex),
		KeyConditionExpression:    aws.String("#open = :uploads AND #openAt < :now"),
		ExpressionAttributeValues: item{":uploads": text(openUploads), ":now": text(padded(now.UnixMicro()))},
	}) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, keyOf(i))
	}
	found, err := s.getAll(ctx, keys)
	var expired []lipsync.Upload
	for _, i := range found {
		var u lipsync.Upload
		err = errors.Join(err, decode(i, uploadFields(&u)))
		if i != nil && u.ExpiresAt.Before(now) {
			expired = append(expired, u)
		}
	}
	return expired, err
}

// DeleteUpload implements lipsync.Uploads.
func (s *Store) DeleteUpload(ctx context.Context, id string) error {
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: uploadKey(id)})
	return s.explain(err)
}
