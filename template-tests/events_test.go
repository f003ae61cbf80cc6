package templatetests

import (
	"slices"
	"strconv"
	"testing"
)

// TestFailedJobs checks that only EventBridge may write the log of failed jobs.
func TestFailedJobs(t *testing.T) {
	policies := deployed().all("AWS::Logs::ResourcePolicy")
	if len(policies) != 1 {
		t.Fatalf("got the policies %q, want one", policies)
	}
	const want = `{"Statement":[{"Action":["logs:CreateLogStream","logs:PutLogEvents"],"Effect":"Allow",` +
		`"Principal":{"Service":["events.amazonaws.com","delivery.logs.amazonaws.com"]},"Resource":"FailedJobs.Arn"}],"Version":"2012-10-17"}`
	got, err := strconv.Unquote(deployed().get(policies[0], "PolicyDocument"))
	if err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestEvents(t *testing.T) {
	deployed().check(t, []property{
		{"JobFailed", "EventPattern", `{"detail":{"arrayProperties":{"size":[{"exists":false}]},"jobQueue":["Jobs.JobQueueArn"],"status":["FAILED"],"statusReason":[{"anything-but":{"prefix":"Host EC2"}}]},"detail-type":["Batch Job State Change"],"source":["aws.batch"]}`},
		{"JobFailed", "Targets", `[{"Arn":"arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:FailedJobs","Id":"Log"}]`},
		{"EachMinute", "ScheduleExpression", `"rate(1 minute)"`},
		{"EachMinute", "Targets", `[{"Arn":"Sweep.Arn","DeadLetterConfig":{"Arn":"DeadLetters.Arn"},"Id":"Target0","RetryPolicy":{"MaximumEventAgeInSeconds":3600,"MaximumRetryAttempts":0}}]`},
		{"SweepEventInvokeConfig", "MaximumRetryAttempts", `0`},
		{"SweepEventInvokeConfig", "DestinationConfig.OnFailure.Destination", `"DeadLetters.Arn"`},
	})
	sources := deployed().all("AWS::Lambda::EventSourceMapping")
	if len(sources) != 2 {
		t.Fatalf("got the event sources %q, want two", sources)
	}
	slices.Sort(sources) // by the names of their functions
	deployed().check(t, []property{
		{sources[0], "EventSourceArn", `"Deliveries.Arn"`},
		{sources[0], "FunctionName", `"Deliver"`},
		{sources[0], "BatchSize", `10`},
		{sources[0], "ScalingConfig", `{"MaximumConcurrency":20}`},
		{sources[0], "FunctionResponseTypes", `["ReportBatchItemFailures"]`},
		{sources[1], "EventSourceArn", `"Queue.Arn"`},
		{sources[1], "FunctionName", `"Dispatch"`},
		{sources[1], "BatchSize", `10000`},
		{sources[1], "MaximumBatchingWindowInSeconds", `2`},
		{sources[1], "ScalingConfig", `{"MaximumConcurrency":2}`},
		{sources[1], "FunctionResponseTypes", `["ReportBatchItemFailures"]`},
	})
}
