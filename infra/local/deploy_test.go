package main

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"lipsync/internal/awstest"
)

// TestNoStackRemains has a stack fail, and another interrupted.
func TestNoStackRemains(t *testing.T) {
	e := awstest.Shared(t)
	d, err := newDeployer(t.Context(), e.Config())
	if err != nil {
		t.Fatal(err)
	}
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for name, c := range map[string]struct {
		ctx      context.Context
		resource string
	}{
		"fails":       {t.Context(), `{"Type":"AWS::Lambda::Url","Properties":{"TargetFunctionArn":"none","AuthType":"NONE"}}`},
		"interrupted": {interrupted, `{"Type":"AWS::SQS::Queue"}`},
	} {
		const bucket = "templates"
		if err := d.put(t.Context(), bucket, name, []byte(`{"Resources":{"It":`+c.resource+`}}`)); err != nil {
			t.Fatal(err)
		}
		_, createErr := d.create(c.ctx, name, e.URL+"/"+bucket+"/"+name)
		if createErr == nil {
			t.Errorf("%s: got no error", name)
		}
		stacks, err := d.stacks.ListStacks(t.Context(), &cloudformation.ListStacksInput{})
		if err != nil {
			t.Fatal(err)
		}
		made := false
		for _, s := range stacks.StackSummaries {
			if *s.StackName != name {
				continue
			}
			made = true
			if s.StackStatus != "DELETE_COMPLETE" {
				t.Errorf("%s: the stack is %s, want it deleted", name, s.StackStatus)
			}
		}
		if !made {
			t.Errorf("%s: there never was a stack (%v)", name, createErr)
		}
	}
}
