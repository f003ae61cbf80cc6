package templatetests

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"lipsync/internal/test/check"
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
		{"JobBlocked", "EventPattern", `{"detail":{"jobQueue":["Jobs.JobQueueArn"]},"detail-type":["Batch Job Queue Blocked"],"source":["aws.batch"]}`},
		{"JobBlocked", "Targets", `[{"Arn":"arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:FailedJobs","Id":"Log"}]`},
		{"EachMinute", "ScheduleExpression", `"rate(1 minute)"`},
		{"EachMinute", "Targets", `[{"Arn":"Sweep.Arn","DeadLetterConfig":{"Arn":"DeadLetters.Arn"},"Id":"Target0","RetryPolicy":{"MaximumEventAgeInSeconds":3600,"MaximumRetryAttempts":0}}]`},
		{"SweepEventInvokeConfig", "MaximumRetryAttempts", `0`},
		{"SweepEventInvokeConfig", "DestinationConfig.OnFailure.Destination", `"DeadLetters.Arn"`},
	})
	sources := deployed().all("AWS::Lambda::EventSourceMapping")
	if len(sources) != 3 {
		t.Fatalf("got the event sources %q, want three", sources)
	}
	slices.Sort(sources) // by the names of their functions
	deployed().check(t, []property{
		{sources[0], "EventSourceArn", `"Deliveries.Arn"`},
		{sources[0], "FunctionName", `"Deliver"`},
		{sources[0], "BatchSize", `10`},
		{sources[0], "ScalingConfig", `{"MaximumConcurrency":2}`},
		{sources[0], "FunctionResponseTypes", `["ReportBatchItemFailures"]`},
		{sources[1], "EventSourceArn", `"Queue.Arn"`},
		{sources[1], "FunctionName", `"Dispatch"`},
		{sources[1], "BatchSize", `10`},
		{sources[1], "MaximumBatchingWindowInSeconds", ""}, // calls at once
		{sources[1], "ScalingConfig", `{"MaximumConcurrency":2}`},
		{sources[1], "FunctionResponseTypes", `["ReportBatchItemFailures"]`},
		{sources[2], "EventSourceArn", `"Table.StreamArn"`},
		{sources[2], "FunctionName", `"Publish"`},
		{sources[2], "BatchSize", `100`},
		{sources[2], "StartingPosition", `"TRIM_HORIZON"`},
		{sources[2], "FunctionResponseTypes", `["ReportBatchItemFailures"]`},
		{sources[2], "MaximumRecordAgeInSeconds", `82800`},
		{sources[2], "MaximumRetryAttempts", ""}, // tried until it is too old
		{sources[2], "DestinationConfig", `{"OnFailure":{"Destination":"DeadLetters.Arn"}}`},
		{"Table", "StreamSpecification", `{"StreamViewType":"NEW_AND_OLD_IMAGES"}`},
	})
	others := other().all("AWS::Lambda::EventSourceMapping")
	slices.Sort(others)
	other().check(t, []property{{others[0], "FunctionName", `"Deliver"`}, {others[0], "ScalingConfig", `{"MaximumConcurrency":20}`}})
	var filters []struct{ Pattern string }
	deployed().read(t, sources[2], "FilterCriteria.Filters", &filters)
	want := []string{
		`{"dynamodb":{"Keys":{"sk":{"S":["request"]}},"NewImage":{"status":{"S":["processing","completed","failed"]}}},"eventName":["MODIFY"]}`,
		`{"dynamodb":{"Keys":{"sk":{"S":["batch"]}},"NewImage":{"finishedAt":{"N":[{"exists":true}]}}},"eventName":["MODIFY"]}`,
	}
	var got []string
	for _, f := range filters {
		got = append(got, f.Pattern)
	}
	check.Names(t, "filters of the stream", got, want)
}

// otherBus is the bus of the template with other settings.
const otherBus = "arn:aws:events:eu-west-1:123456789012:event-bus/main"

// TestBus checks that a bus may have an ARN, and that nothing of it is there without the setting.
func TestBus(t *testing.T) {
	other().check(t, []property{{"Publish", "Environment.Variables.LIPSYNC_EVENT_BUS", `"` + otherBus + `"`}})
	var policy []statement
	other().read(t, "PublishRoleDefaultPolicy", "PolicyDocument.Statement", &policy)
	if !slices.ContainsFunc(policy, func(s statement) bool { return s.Action == "events:PutEvents" && s.Resource == otherBus }) {
		t.Errorf("got the rights %v, want those of the bus %s", policy, otherBus)
	}
	unmade().check(t, []property{{"Table", "StreamSpecification", ""}})
	for name := range unmade().Resources {
		if strings.HasPrefix(name, "Publish") || name == "EventsRefused" {
			t.Errorf("%s is there without a bus", name)
		}
	}
	if n := len(unmade().all("AWS::Lambda::EventSourceMapping")); n != 2 {
		t.Errorf("got %d event sources without a bus, want 2", n)
	}
	if alarm := unmade().get("BackgroundFails", "Metrics"); strings.Contains(alarm, "Publish") || !strings.Contains(deployed().get("BackgroundFails", "Metrics"), `"Publish"`) {
		t.Errorf("got the alarm %s without a bus, and %s with one", alarm, deployed().get("BackgroundFails", "Metrics"))
	}
}
