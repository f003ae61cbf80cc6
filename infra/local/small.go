package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"lipsync/internal/domain/settings"
	"lipsync/internal/test/awstest/fakelambda"
)

// These are outputs that adapt adds to a template, for the fake of the function of small requests.
const (
	outputSmallRole  = "LocalSmallRole"     // ARN of its role
	outputSmallValue = "LocalSmallVariable" // followed by a number: a value of its environment
)

// smallTimeout is the longest time of a small worker.
const smallTimeout = 15 * time.Minute

// takeSmall removes the function that is an image, which emulators don't run, and what is attached to it, and exports its environment and its role. It
// returns the names of its variables, and what stands for references to it.
func (t *template) takeSmall() (names []string, gone map[string]any, err error) {
	for name, r := range t.Resources {
		if r.Type != "AWS::Lambda::Function" || r.Properties["PackageType"] != "Image" {
			continue
		}
		environment, _ := r.Properties["Environment"].(map[string]any)
		variables, _ := environment["Variables"].(map[string]any)
		names = slices.Sorted(maps.Keys(variables))
		for i, variable := range names {
			t.export(fmt.Sprint(outputSmallValue, i), variables[variable])
		}
		if err := t.exportRole(outputSmallRole, r.Properties["Role"]); err != nil {
			return nil, nil, err
		}
		delete(t.Resources, name)
		for other, r := range t.Resources {
			attached, _ := r.Properties["FunctionName"].(map[string]any)
			if referent(attached) == name {
				delete(t.Resources, other)
			}
		}
		return names, map[string]any{name: map[string]any{"Fn::Sub": "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:" + name}}, nil
	}
	return nil, nil, errors.New("the template has no function of an image")
}

// newSmall returns the fake of the function of small requests. Its invocations are processes of the runner.
func (d *deployment) newSmall(names []string, o options) *fakelambda.Fake {
	return fakelambda.New(fakelambda.Options{
		Command: []string{o.Runner, "function"},
		Env:     func() ([]string, error) { return d.smallEnvironment(names, o.JobEnv) },
		Address: d.batchAddress,
		Timeout: smallTimeout,
		Log:     o.JobLog,
	})
}

// smallEnvironment returns the environment of a process of the function: the function's, the addresses of the services, and credentials of its role,
// which Lambda gives in the environment.
func (d *deployment) smallEnvironment(names, more []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := sts.NewFromConfig(d.config).AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn: aws.String(d.Outputs[outputSmallRole]), RoleSessionName: aws.String("small"),
	})
	if err != nil {
		return nil, err
	}
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"AWS_REGION=" + d.config.Region,
		"AWS_ENDPOINT_URL=" + *d.config.BaseEndpoint,
		"AWS_ACCESS_KEY_ID=" + *session.Credentials.AccessKeyId,
		"AWS_SECRET_ACCESS_KEY=" + *session.Credentials.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + *session.Credentials.SessionToken,
	}
	for i, name := range names {
		env = append(env, name+"="+d.Outputs[fmt.Sprint(outputSmallValue, i)])
	}
	host, err := os.MkdirTemp(d.scratch, "host-") // a process deletes what it finds there, as on a host of Lambda, which it has to itself
	if err != nil {
		return nil, err
	}
	env = append(env, settings.Scratch.Env()+"="+host, "TMPDIR="+host)
	return append(env, more...), nil
}
