package main

import (
	"bytes"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

// These are the name and the value of the parameter that cdk bootstrap sets and that the stack's
// template reads.
const bootstrapParameter, bootstrapVersion = "/cdk-bootstrap/hnb659fds/version", "30"

// setVersion sets the parameter that the template reads, unless it exists.
func (d *deployer) setVersion(ctx context.Context) error {
	_, err := d.params.PutParameter(context.WithoutCancel(ctx), &ssm.PutParameterInput{
		Name: aws.String(bootstrapParameter), Value: aws.String(bootstrapVersion),
		Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(false),
	})
	if there := (*ssmtypes.ParameterAlreadyExists)(nil); errors.As(err, &there) {
		return nil
	}
	if err != nil {
		return err
	}
	d.made.add("the parameter "+bootstrapParameter, func(ctx context.Context) error {
		_, err := d.params.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: aws.String(bootstrapParameter)})
		return err
	})
	return nil
}

// put writes an object whose key is the hash of its content, unless it exists. It creates the
// bucket if necessary.
func (d *deployer) put(ctx context.Context, bucket, key string, content []byte) error {
	bucket = d.places.Replace(bucket)
	if err := d.makeBucket(ctx, bucket); err != nil {
		return err
	}
	_, err := d.objects.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	if missing := (*s3types.NotFound)(nil); !errors.As(err, &missing) {
		return err
	}
	d.made.add("the object "+bucket+"/"+key, func(ctx context.Context) error {
		_, err := d.objects.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
		return err
	})
	_, err = d.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(content)})
	return err
}

// makeBucket creates a bucket, unless it exists. (Creating it twice is an error only in some
// regions.)
func (d *deployer) makeBucket(ctx context.Context, bucket string) error {
	_, err := d.objects.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &bucket})
	if missing := (*s3types.NotFound)(nil); !errors.As(err, &missing) {
		return err
	}
	if _, err := d.objects.CreateBucket(context.WithoutCancel(ctx), &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
		return err
	}
	d.made.add("the bucket "+bucket, func(ctx context.Context) error {
		_, err := d.objects.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &bucket})
		return err
	})
	return nil
}
