// Package s3 stores objects in an S3 bucket, and signs URLs to read and write them.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// abortTime is the time in which a failed Put may delete the parts that it sent. It is less than the
// time that a runner has between SIGTERM and SIGKILL. The bucket's lifecycle rule deletes any parts
// that are left.
const abortTime = 5 * time.Second

// Objects stores media in a bucket.
type Objects struct {
	// Unlisted means that the callers have no right to list the bucket. S3 doesn't tell them whether an object is missing or forbidden, so it counts
	// as missing. Set it before use.
	Unlisted bool

	bucket string

	// Each client is made at its first use, since most calls of a function need none, and making
	// them is part of the function's cold start.
	client    func() *s3.Client
	transfers func() *transfermanager.Client
	signer    func() *s3.PresignClient
}

// New returns the objects in the bucket. The signer's sessions sign URLs.
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
		o.UsePathStyle = o.BaseEndpoint != nil // an emulator has no host name for each bucket
		// An object sent in parts has no checksum of the whole. A warning for each would only hide
		// other lines of the log.
		o.DisableLogOutputChecksumValidationSkipped = true
	})
}

// Put sends a large object in parts of 8 MiB, several at once, each
// with a checksum. The object exists once the last part has arrived.
func (o *Objects) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	body := &source{r: r, size: size}
	in := &transfermanager.UploadObjectInput{Bucket: &o.bucket, Key: &key, Body: body}
	if size >= 0 {
		in.ContentLength = &size
	}
	_, err := o.transfers().UploadObject(ctx, in)
	if body.err != nil {
		err = body.err // the cause of the errors after it
	}
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	return nil
}

// source reads the body of a put. It returns an error if the body does not have exactly size bytes
// (-1: any number), so the put fails before the object exists.
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

var _ lipsync.Objects = (*Objects)(nil)

func (o *Objects) Size(ctx context.Context, key string) (int64, error) {
	_, size, err := o.Version(ctx, key)
	return size, err
}

// Version returns the object's ETag.
func (o *Objects) Version(ctx context.Context, key string) (version string, size int64, err error) {
	head, err := o.client().HeadObject(ctx, &s3.HeadObjectInput{Bucket: &o.bucket, Key: &key})
	if err != nil {
		return "", 0, o.orNotFound(err)
	}
	return aws.ToString(head.ETag), aws.ToInt64(head.ContentLength), nil
}

func (o *Objects) Delete(ctx context.Context, key string) error {
	_, err := o.client().DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &o.bucket, Key: &key})
	return err
}

// DeleteAll deletes the objects under a prefix, and aborts unfinished multipart uploads, which deletes
// their parts.
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

// orNotFound translates the errors by which S3 says that there is no object.
func (o *Objects) orNotFound(err error) error {
	_, noKey := errors.AsType[*types.NoSuchKey](err)
	_, noHead := errors.AsType[*types.NotFound](err)
	refusal, refused := errors.AsType[smithy.APIError](err)
	if noKey || noHead || o.Unlisted && refused && slices.Contains([]string{"AccessDenied", "Forbidden"}, refusal.ErrorCode()) { // the second of an answer without a body
		return &failure.Error{Code: failure.NotFound, Message: "object not found", Err: err}
	}
	return err
}
