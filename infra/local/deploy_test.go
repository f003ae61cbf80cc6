package main

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"lipsync/internal/test/awstest"
)

// TestNoStackRemains creates a stack whose creation fails, and one whose creation is interrupted.
// Both must be deleted.
func TestNoStackRemains(t *testing.T) {
	e := awstest.Enforcing(t)
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for name, c := range map[string]struct {
		ctx      context.Context
		resource string
	}{
		"fails":       {t.Context(), `{"Type":"AWS::Lambda::Url","Properties":{"TargetFunctionArn":"none","AuthType":"NONE"}}`},
		"interrupted": {interrupted, `{"Type":"AWS::SQS::Queue"}`},
	} {
		var made undo
		d := newTestDeployer(t, e, &made)
		const bucket = "templates"
		if err := d.put(t.Context(), bucket, name, []byte(`{"Resources":{"It":`+c.resource+`}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := d.create(c.ctx, name, e.URL+"/"+bucket+"/"+name); err == nil {
			t.Errorf("%s: got no error", name)
		}
		if got := statusOf(t, d, name); got == "" || got == "DELETE_COMPLETE" {
			t.Errorf("%s: the stack is %q, want it made", name, got)
		}
		if err := made.run(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := statusOf(t, d, name); got != "DELETE_COMPLETE" {
			t.Errorf("%s: the stack is %q, want it deleted", name, got)
		}
	}
}

func newTestDeployer(t *testing.T, e *awstest.Emulator, made *undo) *deployer {
	t.Helper()
	d, err := newDeployer(t.Context(), e.Config(), made)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// statusOf returns the status of a stack, or "" if it never existed.
func statusOf(t *testing.T, d *deployer, stack string) string {
	t.Helper()
	out, err := d.stacks.ListStacks(t.Context(), &cloudformation.ListStacksInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range out.StackSummaries {
		if *s.StackName == stack {
			return string(s.StackStatus)
		}
	}
	return ""
}

// TestOthersStay checks that resources stay at the emulator that this command did not create.
func TestOthersStay(t *testing.T) {
	e := awstest.Own(t)
	var others, ours undo
	d := newTestDeployer(t, e, &others)
	err := errors.Join(d.setVersion(t.Context()), d.put(t.Context(), "theirs", "a", []byte("a")))
	if err != nil {
		t.Fatal(err)
	}
	before := things(t, e)
	d.made = &ours
	err = errors.Join(d.setVersion(t.Context()), d.put(t.Context(), "theirs", "a", []byte("a")),
		d.put(t.Context(), "theirs", "b", []byte("b")), d.put(t.Context(), "ours", "c", []byte("c")))
	if err != nil {
		t.Fatal(err)
	}
	if got := things(t, e); len(got) != len(before)+3 {
		t.Errorf("got %q, want two objects and a bucket more than %q", got, before)
	}
	if err := ours.run(); err != nil {
		t.Error(err)
	}
	if got := things(t, e); !slices.Equal(got, before) {
		t.Errorf("got %q, want %q as before", got, before)
	}
}

// things returns the resources of an emulator: parameters, objects, buckets, roles, stacks, user
// pools and secrets.
func things(t *testing.T, e *awstest.Emulator) []string {
	t.Helper()
	objects := s3.NewFromConfig(e.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	params, err1 := ssm.NewFromConfig(e.Config()).GetParametersByPath(t.Context(), &ssm.GetParametersByPathInput{
		Path: aws.String("/"), Recursive: aws.Bool(true),
	})
	buckets, err2 := objects.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	stacks, err3 := cloudformation.NewFromConfig(e.Config()).DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{})
	pools, err4 := cognitoidentityprovider.NewFromConfig(e.Config()).ListUserPools(t.Context(), &cognitoidentityprovider.ListUserPoolsInput{
		MaxResults: aws.Int32(60),
	})
	secrets, err5 := secretsmanager.NewFromConfig(e.Config()).ListSecrets(t.Context(), &secretsmanager.ListSecretsInput{})
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range params.Parameters {
		all = append(all, "parameter "+*p.Name+"="+*p.Value)
	}
	for _, b := range buckets.Buckets {
		all = append(all, "bucket "+*b.Name)
		page, err := objects.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: b.Name})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			all = append(all, "object "+*b.Name+"/"+*o.Key)
		}
	}
	for _, name := range roles(t, e) {
		all = append(all, "role "+name)
	}
	for _, s := range stacks.Stacks {
		all = append(all, "stack "+*s.StackName)
	}
	for _, p := range pools.UserPools {
		all = append(all, "user pool "+*p.Name)
	}
	for _, s := range secrets.SecretList {
		all = append(all, "secret "+*s.Name)
	}
	return all
}

func roles(t *testing.T, e *awstest.Emulator) []string {
	t.Helper()
	response, err := http.PostForm(e.URL, url.Values{"Action": {"ListRoles"}, "Version": {"2010-05-08"}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Names []string `xml:"ListRolesResult>Roles>member>RoleName"`
	}
	if err := xml.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %s, %v", response.Status, err)
	}
	return answer.Names
}
