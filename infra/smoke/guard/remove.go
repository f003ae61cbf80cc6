package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// remover removes stacks.
type remover struct {
	config aws.Config
	out    io.Writer
	pause  time.Duration // between looks at a stack
}

// longest is the time in which a stack is gone: first an update may end, then each instance.
const longest = time.Hour

// all removes the stacks whose names have the prefix.
func (r remover) all(ctx context.Context, prefix string) error {
	var errs []error
	pages := cloudformation.NewDescribeStacksPaginator(cloudformation.NewFromConfig(r.config), &cloudformation.DescribeStacksInput{})
	var names []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, s := range page.Stacks {
			if name := aws.ToString(s.StackName); strings.HasPrefix(name, prefix) && s.StackStatus != types.StackStatusDeleteComplete {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		errs = append(errs, r.stack(ctx, name))
	}
	fmt.Fprintf(r.out, "There were %d stacks of tests.\n", len(names))
	return errors.Join(errs...)
}

// stack removes the stack with the name, and returns when it is gone. A stack that is not there is none to remove. A stack that AWS is changing is tried again.
func (r remover) stack(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	client := cloudformation.NewFromConfig(r.config)
	for {
		found, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if e, ok := errors.AsType[smithy.APIError](err); ok && e.ErrorCode() == "ValidationError" { // there is none
			fmt.Fprintln(r.out, name, "is gone. What stays: images and functions in the repository and the bucket of cdk bootstrap, the account's roles, the alarms' key for 30 days.")
			return nil
		}
		if err != nil {
			return fmt.Errorf("the stack %s may still be there: %w", name, err)
		}
		switch status := found.Stacks[0].StackStatus; status {
		case types.StackStatusDeleteComplete:
			return nil
		case types.StackStatusDeleteInProgress:
		default:
			if err := errors.Join(r.empty(ctx, found.Stacks[0]), r.delete(ctx, client, name)); err != nil {
				fmt.Fprintf(r.out, "%s is %s: %v\n", name, status, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the stack %s is still there: delete it by hand", name)
		case <-time.After(r.pause):
		}
	}
}

func (r remover) delete(ctx context.Context, client *cloudformation.Client, name string) error {
	_, err := client.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &name})
	return err
}

// empty deletes all objects in the stack's bucket, without which AWS doesn't delete it.
func (r remover) empty(ctx context.Context, s types.Stack) error {
	bucket, err := r.bucket(ctx, s)
	if err != nil || bucket == "" {
		return err
	}
	client := s3.NewFromConfig(r.config, func(o *s3.Options) { o.UsePathStyle = r.config.BaseEndpoint != nil })
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			if _, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: o.Key}); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucket returns the name of the stack's bucket; "" if there is none. A stack that could not be made has no outputs, so its list of parts, which is long, is searched.
func (r remover) bucket(ctx context.Context, s types.Stack) (string, error) {
	for _, o := range s.Outputs {
		if aws.ToString(o.OutputKey) == "BucketName" {
			return aws.ToString(o.OutputValue), nil
		}
	}
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(r.config), &cloudformation.ListStackResourcesInput{StackName: s.StackName})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for _, part := range page.StackResourceSummaries {
			if aws.ToString(part.ResourceType) == "AWS::S3::Bucket" && part.ResourceStatus != types.ResourceStatusDeleteComplete {
				return aws.ToString(part.PhysicalResourceId), nil
			}
		}
	}
	return "", nil
}
