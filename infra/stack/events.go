package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/jsii-runtime-go"
)

// addEvents connects the functions that no client calls.
func (s *service) addEvents() {
	s.functions["dispatch"].AddEventSource(awslambdaeventsources.NewSqsEventSource(s.queue,
		&awslambdaeventsources.SqsEventSourceProps{
			BatchSize:               jsii.Number(10),
			MaxConcurrency:          jsii.Number(4), // Batch takes some tens of calls a second
			ReportBatchItemFailures: jsii.Bool(true),
		}))
	// A failed job is told for hours if need be. What is lost even so is found
	// by the sweep, once the lease has ended.
	s.call("job-state", "JobFailed", again{times: 2, hours: 6}, &awsevents.RuleProps{
		Description: jsii.String("Jobs that failed"),
		EventPattern: &awsevents.EventPattern{
			Source:     jsii.Strings("aws.batch"),
			DetailType: jsii.Strings("Batch Job State Change"),
			Detail:     &map[string]any{"status": []string{"FAILED"}, "jobQueue": []*string{s.jobQueue.JobQueueArn()}},
		},
	})
	// A sweep that failed is not tried again: the next minute's is near.
	s.call("sweep", "EachMinute", again{times: 0, hours: 1}, &awsevents.RuleProps{
		Description: jsii.String("The sweep"),
		Schedule:    awsevents.Schedule_Rate(awscdk.Duration_Minutes(jsii.Number(1))),
	})
}

// again is how often an event is told again, and until what age.
type again struct{ times, hours int }

// call has a rule call a function, and puts aside the events that come to
// nothing, whether they don't reach the function or it fails on them.
func (s *service) call(function, id string, a again, rule *awsevents.RuleProps) {
	f := s.functions[function]
	times, age := jsii.Number(a.times), awscdk.Duration_Hours(jsii.Number(a.hours))
	f.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		RetryAttempts: times,
		MaxEventAge:   age,
		OnFailure:     awslambdadestinations.NewSqsDestination(s.dead),
	})
	awsevents.NewRule(s.stack, jsii.String(id), rule).AddTarget(awseventstargets.NewLambdaFunction(f,
		&awseventstargets.LambdaFunctionProps{RetryAttempts: times, MaxEventAge: age, DeadLetterQueue: s.dead}))
}
