package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"lipsync/internal/domain/failure"
)

// Open opens an object. The context also ends reading.
func (o *Objects) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	d, err := o.open(ctx, &s3.GetObjectInput{Bucket: &o.bucket, Key: &key}, 0, "")
	if err != nil {
		return nil, 0, err
	}
	return d, d.size, nil
}

// OpenPart opens a part of an object. The context also ends reading.
func (o *Objects) OpenPart(ctx context.Context, key, version string, offset, size int64) (io.ReadCloser, error) {
	last := strconv.FormatInt(offset+size-1, 10)
	in := &s3.GetObjectInput{Bucket: &o.bucket, Key: &key, IfMatch: &version, Range: aws.String(fmt.Sprintf("bytes=%d-%s", offset, last))}
	d, err := o.open(ctx, in, offset, last)
	if other, ok := errors.AsType[smithy.APIError](err); ok && other.ErrorCode() == "PreconditionFailed" {
		return nil, &failure.Error{Code: failure.Conflict, Message: "the object was replaced", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open opens what in asks for: an object from the byte first to the byte last, which is "" for its end.
func (o *Objects) open(ctx context.Context, in *s3.GetObjectInput, first int64, last string) (*download, error) {
	out, err := o.client().GetObject(ctx, in)
	if err != nil {
		return nil, o.orNotFound(err)
	}
	again := func(offset int64) (io.ReadCloser, error) {
		out, err := o.client().GetObject(ctx, &s3.GetObjectInput{
			Bucket: in.Bucket, Key: in.Key, IfMatch: out.ETag,
			Range: aws.String(fmt.Sprintf("bytes=%d-%s", first+offset, last)),
		})
		if err != nil {
			return nil, err
		}
		return out.Body, nil
	}
	return &download{ended: ctx.Err, body: out.Body, again: again, size: aws.ToInt64(out.ContentLength), resume: -1}, nil
}

// download reads an object, or a part of it, to its end. If a connection breaks, which happens with gigabytes, it
// continues with a new one, but only if the object is still the same.
type download struct {
	ended  func() error // returns the error of the caller's context
	body   io.ReadCloser
	again  func(offset int64) (io.ReadCloser, error)
	size   int64
	offset int64 // of the next byte
	resume int64 // offset at which the connection began; -1 for the first connection
}

func (d *download) Read(p []byte) (int, error) {
	if err := d.ended(); err != nil { // the connection may have delivered more already
		return 0, err
	}
	n, err := d.body.Read(p)
	d.offset += int64(n)
	if err == nil || errors.Is(err, io.EOF) && d.offset == d.size {
		return n, err
	}
	return n, d.reconnect(err)
}

// reconnect replaces the body that ended with err. It gives up if the last connection delivered
// nothing, or if all bytes arrived but the checksum is wrong.
func (d *download) reconnect(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if d.offset == d.resume || d.offset >= d.size {
		return fmt.Errorf("read object at byte %d of %d: %w", d.offset, d.size, err)
	}
	body, againErr := d.again(d.offset)
	if againErr != nil {
		return fmt.Errorf("read object at byte %d of %d: %w", d.offset, d.size, errors.Join(err, againErr))
	}
	_ = d.body.Close() // it is broken
	d.body, d.resume = body, d.offset
	return nil
}

func (d *download) Close() error { return d.body.Close() }
