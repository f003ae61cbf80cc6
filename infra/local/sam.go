package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// hashed is the end of the names that CDK gives to resources.
var hashed = regexp.MustCompile(`[0-9A-F]{8}$`)

// sampleToken is a token in the sample events.
var sampleToken = regexp.MustCompile(`lipsync_A+\b`)

// writeSAM writes files for the SAM CLI to an existing folder: template.json with the functions as they are deployed at the emulator, with their variables and its
// address, and in events the samples of the folder, with a key that the service knows. programs is the folder of the built functions.
func (d *deployment) writeSAM(ctx context.Context, folder, programs, samples, token string) error {
	resources, err := cloudformation.NewFromConfig(d.config).DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: &d.stack})
	if err != nil {
		return err
	}
	client, functions := lambda.NewFromConfig(d.config), map[string]any{}
	for _, r := range resources.StackResources {
		if aws.ToString(r.ResourceType) != "AWS::Lambda::Function" {
			continue
		}
		f, err := client.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: r.PhysicalResourceId})
		if err != nil {
			return err
		}
		name := hashed.ReplaceAllString(*r.LogicalResourceId, "")
		variables := map[string]string{"AWS_ENDPOINT_URL": *d.config.BaseEndpoint}
		if f.Environment != nil {
			maps.Copy(variables, f.Environment.Variables)
		}
		functions[name] = map[string]any{
			"Type": "AWS::Serverless::Function",
			"Properties": map[string]any{
				"Runtime": f.Runtime, "Handler": "bootstrap", "Architectures": []string{architecture()},
				"CodeUri": filepath.Join(programs, strings.TrimSuffix(kebab(name), "-pages")),
				"Timeout": f.Timeout, "MemorySize": f.MemorySize, "Environment": map[string]any{"Variables": variables},
			},
		}
	}
	text, err := json.MarshalIndent(map[string]any{"Transform": "AWS::Serverless-2016-10-31", "Resources": functions}, "", "  ")
	if err != nil {
		return err
	}
	events := filepath.Join(folder, "events")
	if err := os.MkdirAll(events, 0o755); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(samples, "*.json"))
	if err != nil {
		return err
	}
	if paths == nil {
		return fmt.Errorf("no sample events in %s", samples)
	}
	for _, path := range paths {
		sample, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(events, filepath.Base(path)), sampleToken.ReplaceAll(sample, []byte(token)), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "template.json"), append(bytes.TrimSpace(text), '\n'), 0o600)
}
