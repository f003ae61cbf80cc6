// Package s3 keeps objects in a bucket of S3, and signs URLs that read and fill
// them.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lipsync/internal/lipsync"
)

// abortTime is how long a failed Put may take to delete the parts that it sent:
// less than a runner has that is told to stop. The bucket deletes what stays.
const abortTime = 5 * time.Second

// Objects implements lipsync.Objects.
type Objects struct {
	bucket string

	// Each client is made by its first use, since most calls of a function use none, and
	// to make them is a part of its cold start.
	client    func() *s3.Client
	transfers func() *transfermanager.Client
	signer    func() *s3.PresignClient
}

// New uses the bucket. URLs are signed by sessions of the signer.
func New(cfg aws.Config, bucket string, signer Signer) *Objects {
	o := &Objects{bucket: bucket}
	o.client = sync.OnceValue(func() *s3.Client { return newClient(cfg) })
	o.transfers = sync.OnceValue(func() *transfermanager.Client {
		return transfermanager.New(o.client(), func(o *transfermanager.Options) { o.FailTimeout = abortTime })
	})
	o.signer = sync.OnceValue(func() *s3.PresignClient { return newSigner(cfg, signer) })
	return o
}

func newClient(cfg aws.Config) *s3.Client {
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil // an emulator has no host for each bucket
		// What went in parts has only the sums of its parts, which is no news.
		o.DisableLogOutputChecksumValidationSkipped = true
	})
}

// Put implements lipsync.Objects. What is large goes in parts of 8 MiB, some at
// a time, each with a checksum, and becomes the object when the last is there.
func (o *Objects) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	body := &source{r: r, size: size}
	in := &transfermanager.UploadObjectInput{Bucket: &o.bucket, Key: &key, Body: body}
	if size >= 0 {
		in.ContentLength = &size
	}
	_, err := o.transfers().UploadObject(ctx, in)
	if body.err != nil {
		err = body.err // the cause of what came after it
	}
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	return nil
}

// source reads what is put. It fails if that has not exactly size bytes (-1: any
// number), which ends a Put before there is an object.
type source struct {
	r       io.Reader
	n, size int64
	err     error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	end := errors.Is(err, io.EOF)
	switch {
	case s.size >= 0 && (s.n > s.size || end && s.n < s.size):
		s.err = fmt.Errorf("got %d bytes, want %d", s.n, s.size)
		return n, s.err
	case err != nil && !end:
		s.err = err
	}
	return n, err
}

// Size implements lipsync.Objects.
func (o *Objects) Size(ctx context.Context, key string) (int64, error) {
	head, err := o.client().HeadObject(ctx, &s3.HeadObjectInput{Bucket: &o.bucket, Key: &key})
	if err != nil {
		return 0, orNotFound(err)
	}
	return aws.ToInt64(head.ContentLength), nil
}

// Delete implements lipsync.Objects.
func (o *Objects) Delete(ctx context.Context, key string) error {
	_, err := o.client().DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &o.bucket, Key: &key})
	return err
}

// DeleteAll implements lipsync.Objects. Parts of an upload that nobody finished are
// deleted by aborting it.
func (o *Objects) DeleteAll(ctx context.Context, prefix string) error {
	err := o.List(ctx, prefix, func(key string, _ time.Time) error { return o.Delete(ctx, key) })
	if err != nil {
		return err
	}
	pages := s3.NewListMultipartUploadsPaginator(o.client(), &s3.ListMultipartUploadsInput{Bucket: &o.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, u := range page.Uploads {
			_, err := o.client().AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &o.bucket, Key: u.Key, UploadId: u.UploadId})
			if _, gone := errors.AsType[*types.NoSuchUpload](err); err != nil && !gone {
				return err
			}
		}
	}
	return nil
}

// List implements lipsync.Objects.
func (o *Objects) List(ctx context.Context, prefix string, f func(key string, modified time.Time) error) error {
	pages := s3.NewListObjectsV2Paginator(o.client(), &s3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, object := range page.Contents {
			if err := f(*object.Key, *object.LastModified); err != nil {
				return err
			}
		}
	}
	return nil
}

// orNotFound translates the two ways in which S3 says that there is no object.
// It says so to those who may list the bucket; to others it says forbidden.
func orNotFound(err error) error {
	_, noKey := errors.AsType[*types.NoSuchKey](err)
	_, noHead := errors.AsType[*types.NotFound](err)
	if noKey || noHead {
		return &lipsync.Error{Code: lipsync.NotFound, Message: "object not found", Err: err}
	}
	return err
}
