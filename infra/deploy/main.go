// Command deploy deploys the stack with the CDK's command line. Before that, it creates what all
// stacks of the account share, and refuses settings that AWS would refuse half-way, or that would
// change the deployed stack without the operator's wish.
//
// Run it in the folder infra, as make deploy does: deploy CDK [ARGUMENT...].
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"

	"lipsync/infra/account"
	"lipsync/infra/stack"
	"lipsync/internal/aws/awsclient"
	"lipsync/internal/domain/settings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: deploy CDK [ARGUMENT...]")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cdk string, arguments []string) error {
	written, err := os.ReadFile("cdk.json")
	if err != nil {
		return err
	}
	given, err := readContext(written, arguments)
	if err != nil {
		return err
	}
	configured, err := config.LoadDefaultConfig(ctx, config.WithSharedConfigProfile(option(arguments, "--profile")))
	if err != nil {
		return err
	}
	awsclient.KeepAnswers(&configured)
	if configured.Region == "" {
		return errors.New("AWS_REGION is not set, and the profile has no region")
	}
	d := deployment{account: account.Account{Config: configured}, given: given, out: os.Stderr, triggers: option(arguments, rollbackOption) != ""}
	added, err := d.prepare(ctx)
	if err != nil {
		return err
	}
	for _, more := range added {
		c := exec.CommandContext(ctx, cdk, append(append([]string{"deploy"}, arguments...), more...)...)
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
		if err := c.Run(); err != nil {
			return err
		}
	}
	return nil
}

// deployment is a deployment to one account.
type deployment struct {
	account account.Account
	given   map[string]any // settings of cdk.json and of the command line
	out     io.Writer      // for messages to the operator
	// triggers says that the operator names the alarms that take the deployment back.
	triggers bool
}

// rollbackOption is the option of cdk with the alarms that take a deployment back.
const rollbackOption = "--rollback-trigger-alarm-arns"

// watchMinutes is the time for which a deployment waits, once all is deployed, for the alarm: two of its periods.
const watchMinutes = 10

// prepare prepares the account. It returns the arguments to add to each call of cdk deploy. A new
// stack is first deployed without protection of its data, so that AWS can remove it if the
// creation fails, and then with protection.
func (d *deployment) prepare(ctx context.Context) (added [][]string, err error) {
	decided, err := stack.ParseSettings(d.given)
	if err != nil {
		return nil, err
	}
	deployed, alarm, exists, err := d.deployed(ctx, settings.Name.In(decided.Values))
	if err != nil {
		return nil, err
	}
	if err := d.checkRegion(ctx, decided); err != nil {
		return nil, err
	}
	usual, err := d.choose(ctx, decided, deployed, exists)
	if err != nil {
		return nil, err
	}
	if err := unasked(deployed, decided.InEffect, d.given); err != nil {
		return nil, err
	}
	if err := d.account.MakeServiceRoles(ctx); err != nil {
		return nil, err
	}
	made, err := d.account.MakeLogRole(ctx)
	if err != nil {
		return nil, err
	}
	if made {
		fmt.Fprintln(d.out, "API Gateway now has a role to write logs, for all APIs of this account and region.")
	}
	if !exists && settings.KeepData.In(decided.Values) {
		added = append(added, slices.Concat(usual, []string{"-c", settings.FirstDeploy.Context() + "=true"}))
	}
	if alarm != "" && !d.triggers {
		usual = append(usual, rollbackOption+"="+alarm, fmt.Sprint("--monitoring-time-minutes=", watchMinutes))
	}
	return append(added, usual), nil
}

// deployed returns the settings of the deployed stack, the ARN of its stack.RollbackAlarm, and whether there is one. It returns no
// settings for a stack of a version that did not store them. A stack whose creation failed does
// not count.
func (d *deployment) deployed(ctx context.Context, name string) (inEffect map[string]string, alarm string, exists bool, err error) {
	client := cloudformation.NewFromConfig(d.account.Config)
	found, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if e, ok := errors.AsType[smithy.APIError](err); ok && e.ErrorCode() == "ValidationError" {
		return nil, "", false, nil // the error if the stack does not exist
	}
	if err != nil {
		return nil, "", false, err
	}
	switch found.Stacks[0].StackStatus {
	case types.StackStatusReviewInProgress, types.StackStatusRollbackComplete, types.StackStatusRollbackFailed:
		return nil, "", false, nil
	}
	for _, o := range found.Stacks[0].Outputs {
		if aws.ToString(o.OutputKey) == stack.RollbackAlarm {
			alarm = aws.ToString(o.OutputValue)
		}
	}
	out, err := client.GetTemplateSummary(ctx, &cloudformation.GetTemplateSummaryInput{StackName: &name})
	if err != nil || out.Metadata == nil {
		return nil, alarm, true, err
	}
	var metadata map[string]json.RawMessage
	if err := json.Unmarshal([]byte(aws.ToString(out.Metadata)), &metadata); err != nil {
		return nil, alarm, true, fmt.Errorf("metadata of the deployed stack: %w", err)
	}
	if told := metadata[stack.SettingsMetadata]; told != nil {
		err = json.Unmarshal(told, &inEffect)
	}
	return inEffect, alarm, true, err
}
