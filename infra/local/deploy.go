package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// deployTime bounds the creation and the removal of a stack.
const deployTime = 5 * time.Minute

// deployer creates stacks at one endpoint, without the CDK's command line and its roles. It uses
// what exists there already, and leaves it unchanged.
type deployer struct {
	stacks  *cloudformation.Client
	objects *s3.Client
	params  *ssm.Client
	places  *strings.Replacer // replaces the placeholders for account and region in bucket names
	made    *undo             // records everything that the deployer creates
}

func newDeployer(ctx context.Context, config aws.Config, made *undo) (*deployer, error) {
	who, err := sts.NewFromConfig(config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return nil, err
	}
	return &deployer{
		stacks:  cloudformation.NewFromConfig(config),
		objects: s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true }),
		params:  ssm.NewFromConfig(config),
		places: strings.NewReplacer("${AWS::AccountId}", aws.ToString(who.Account),
			"${AWS::Region}", config.Region, "${AWS::Partition}", "aws"),
		made: made,
	}, nil
}

// deploy creates the assembly's stack, and returns its outputs.
func (d *deployer) deploy(ctx context.Context, a *assembly) (map[string]string, error) {
	if len(a.Files) == 0 {
		return nil, errors.New("the assembly has no function")
	}
	if err := d.setVersion(ctx); err != nil {
		return nil, err
	}
	for _, f := range a.Files {
		content, err := f.content()
		if err != nil {
			return nil, err
		}
		if err := d.put(ctx, f.Bucket, f.Key, content); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(a.Template)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	key := hex.EncodeToString(sum[:]) + ".json"
	if err := d.put(ctx, a.Files[0].Bucket, key, body); err != nil {
		return nil, err
	}
	url := fmt.Sprintf("%s/%s/%s", *d.objects.Options().BaseEndpoint, d.places.Replace(a.Files[0].Bucket), key)
	outputs, err := d.create(ctx, a.Stack, url)
	if err != nil {
		return nil, err
	}
	bucket := outputs["BucketName"]
	d.made.add("what is in the bucket "+bucket, func(ctx context.Context) error { return d.empty(ctx, bucket) })
	return outputs, nil
}

// create creates a stack from the template at a URL.
func (d *deployer) create(ctx context.Context, stack, url string) (map[string]string, error) {
	// An interrupt here would leave it unknown whether the stack exists.
	_, err := d.stacks.CreateStack(context.WithoutCancel(ctx), &cloudformation.CreateStackInput{
		StackName: &stack, TemplateURL: &url,
		Capabilities: []types.Capability{types.CapabilityCapabilityIam, types.CapabilityCapabilityNamedIam},
		OnFailure:    types.OnFailureDoNothing,
	})
	if err != nil {
		return nil, err
	}
	d.made.add("the stack "+stack, func(ctx context.Context) error { return d.delete(ctx, stack) })
	describe := &cloudformation.DescribeStacksInput{StackName: &stack}
	waiter := cloudformation.NewStackCreateCompleteWaiter(d.stacks, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	})
	finished, err := waiter.WaitForOutput(ctx, describe, deployTime)
	if err != nil {
		return nil, errors.Join(err, d.reasons(ctx, stack))
	}
	outputs := map[string]string{}
	for _, o := range finished.Stacks[0].Outputs {
		outputs[*o.OutputKey] = *o.OutputValue
	}
	return outputs, nil
}

// reasons returns why the creation of a stack failed.
func (d *deployer) reasons(ctx context.Context, stack string) error {
	events, err := d.stacks.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &stack})
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range events.StackEvents {
		if strings.HasSuffix(string(e.ResourceStatus), "FAILED") {
			errs = append(errs, fmt.Errorf("%s: %s", aws.ToString(e.LogicalResourceId), aws.ToString(e.ResourceStatusReason)))
		}
	}
	return errors.Join(errs...)
}

// delete removes a stack whose bucket is empty.
func (d *deployer) delete(ctx context.Context, stack string) error {
	if _, err := d.stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &stack}); err != nil {
		return err
	}
	waiter := cloudformation.NewStackDeleteCompleteWaiter(d.stacks, func(o *cloudformation.StackDeleteCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, time.Second
	})
	return waiter.Wait(ctx, &cloudformation.DescribeStacksInput{StackName: &stack}, deployTime)
}

func (d *deployer) empty(ctx context.Context, bucket string) error {
	pages := s3.NewListObjectsV2Paginator(d.objects, &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, object := range page.Contents {
			if _, err := d.objects.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: object.Key}); err != nil {
				return err
			}
		}
	}
	return nil
}
