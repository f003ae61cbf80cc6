package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
)

// addEvents connects the functions that no client calls.
func (s *service) addEvents() {
	s.functions["dispatch"].AddEventSource(awslambdaeventsources.NewSqsEventSource(s.queue,
		&awslambdaeventsources.SqsEventSourceProps{
			// One call starts workers for all requests that wait in the table, and the calls after it answer older messages at once. Larger batches
			// would be collected for a second.
			BatchSize:               jsii.Number(10),
			MaxConcurrency:          jsii.Number(settings.DispatchCalls),
			ReportBatchItemFailures: jsii.Bool(true),
		}))
	s.functions["deliver"].AddEventSource(awslambdaeventsources.NewSqsEventSource(s.deliveries,
		&awslambdaeventsources.SqsEventSourceProps{
			// A call of a webhook may take 20 s, and a function makes ten at a time.
			BatchSize:               jsii.Number(10),
			MaxConcurrency:          jsii.Number(s.deliverCalls()),
			ReportBatchItemFailures: jsii.Bool(true),
		}))
	if s.publishes() {
		s.publish()
	}
	s.callSweep()
	s.logFailedJobs()
}

// maxDeliverCalls is the largest number of calls of deliver at a time.
const maxDeliverCalls = 20

// deliverCalls returns the largest number of calls of deliver at a time: a fifth of the account's, so that slow webhooks don't take all. AWS takes no less
// than 2.
func (s *service) deliverCalls() int {
	return min(max(2, settings.LambdaQuota.In(s.Values)/5), maxDeliverCalls)
}

// brokerCalls returns the number of calls of the broker that are kept for it, so that runners keep their leases while clients' calls use up the account's
// quota: one for ten requests that are worked on. A runner makes somewhat more than a call a second, which takes some 20 ms.
func (s *service) brokerCalls() int {
	small := settings.SmallWorkers.In(s.Values)
	held := lipsync.MostHeld(s.maxWorkers(s.plain()), small, s.maxWorkers(s.neural()))
	return min(max(settings.LeastBrokerCalls, held/10), settings.LambdaQuota.In(s.Values)-settings.Unreserved+settings.LeastBrokerCalls-small)
}

// reserved returns the number of calls that are kept for a function, so that it works while clients' calls use up the account's quota; nil for none.
func (s *service) reserved(function string) *float64 {
	calls, some := map[string]int{
		"dispatch": settings.DispatchCalls, "sweep": settings.SweepCalls, "broker": s.brokerCalls(), smallName: settings.SmallWorkers.In(s.Values),
	}[function]
	if !some || settings.LambdaQuota.In(s.Values) < settings.ReservingQuota {
		return nil
	}
	return jsii.Number(calls)
}

// callSweep calls the sweep each minute. A failed sweep is not tried again, because the next one
// follows soon. An event that doesn't reach the function, or on which the function fails, goes to
// the queue of failed messages.
func (s *service) callSweep() {
	f, times, age := s.functions["sweep"], jsii.Number(0), awscdk.Duration_Hours(jsii.Number(1))
	f.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		RetryAttempts: times,
		MaxEventAge:   age,
		OnFailure:     awslambdadestinations.NewSqsDestination(s.dead),
	})
	awsevents.NewRule(s.stack, jsii.String("EachMinute"), &awsevents.RuleProps{
		Description: jsii.String("The sweep"),
		Schedule:    awsevents.Schedule_Rate(awscdk.Duration_Minutes(jsii.Number(1))),
	}).AddTarget(awseventstargets.NewLambdaFunction(f,
		&awseventstargets.LambdaFunctionProps{RetryAttempts: times, MaxEventAge: age, DeadLetterQueue: s.dead}))
}

// logFailedJobs logs Batch's event for each failed job, and for each job that it can't start, with the cause, some minutes after it began to wait. An alarm counts these events. Arrays of
// jobs and jobs whose instance was reclaimed do not count.
func (s *service) logFailedJobs() {
	s.failedJobs = s.logGroup("FailedJobs")
	write := allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, jsii.String(*s.failedJobs.LogGroupArn()))
	for _, principal := range []string{"events.amazonaws.com", "delivery.logs.amazonaws.com"} {
		write.AddServicePrincipal(jsii.String(principal), nil)
	}
	s.failedJobs.AddToResourcePolicy(write)
	s.logEvents("JobFailed", "Jobs that failed", "Batch Job State Change", map[string]any{
		"status":          []string{"FAILED"},
		"arrayProperties": map[string]any{"size": []any{map[string]any{"exists": false}}},
		"statusReason":    []any{map[string]any{"anything-but": map[string]any{"prefix": "Host EC2"}}},
	})
	s.jobsBlocked = s.logEvents("JobBlocked", "Jobs that Batch can't start", "Batch Job Queue Blocked", map[string]any{})
}

// logEvents logs events about the job queues with the details to the log of failed jobs.
func (s *service) logEvents(id, description, kind string, details map[string]any) awsevents.Rule {
	var queues []*string
	for _, f := range s.fleets {
		queues = append(queues, f.queue.JobQueueArn())
	}
	details["jobQueue"] = queues
	rule := awsevents.NewRule(s.stack, jsii.String(id), &awsevents.RuleProps{
		Description:  jsii.String(description),
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings("aws.batch"), DetailType: jsii.Strings(kind), Detail: &details},
	})
	// CDK's own target would add a function that writes the group's policy.
	rule.Node().DefaultChild().(awsevents.CfnRule).SetTargets(&[]any{&awsevents.CfnRule_TargetProperty{
		Id: jsii.String("Log"),
		Arn: awscdk.Stack_Of(s.stack).FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("logs"), Resource: jsii.String("log-group"), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
			ResourceName: s.failedJobs.LogGroupName(),
		}),
	}})
	return rule
}
