package templatetests

import "testing"

func TestEvents(t *testing.T) {
	deployed().check(t, []property{
		{"JobFailed", "EventPattern", `{"detail":{"jobQueue":["Jobs.JobQueueArn"],"status":["FAILED"]},"detail-type":["Batch Job State Change"],"source":["aws.batch"]}`},
		{"JobFailed", "Targets", `[{"Arn":"JobState.Arn","DeadLetterConfig":{"Arn":"DeadLetters.Arn"},"Id":"Target0","RetryPolicy":{"MaximumEventAgeInSeconds":21600,"MaximumRetryAttempts":2}}]`},
		{"EachMinute", "ScheduleExpression", `"rate(1 minute)"`},
		{"EachMinute", "Targets", `[{"Arn":"Sweep.Arn","DeadLetterConfig":{"Arn":"DeadLetters.Arn"},"Id":"Target0","RetryPolicy":{"MaximumEventAgeInSeconds":3600,"MaximumRetryAttempts":0}}]`},
		{"JobStateEventInvokeConfig", "MaximumRetryAttempts", `2`},
		{"JobStateEventInvokeConfig", "DestinationConfig.OnFailure.Destination", `"DeadLetters.Arn"`},
		{"SweepEventInvokeConfig", "MaximumRetryAttempts", `0`},
		{"SweepEventInvokeConfig", "DestinationConfig.OnFailure.Destination", `"DeadLetters.Arn"`},
	})
	sources := deployed().all("AWS::Lambda::EventSourceMapping")
	if len(sources) != 1 {
		t.Fatalf("got the event sources %q, want one", sources)
	}
	deployed().check(t, []property{
		{sources[0], "EventSourceArn", `"Queue.Arn"`},
		{sources[0], "FunctionName", `"Dispatch"`},
		{sources[0], "BatchSize", `10`},
		{sources[0], "FunctionResponseTypes", `["ReportBatchItemFailures"]`},
	})
}
