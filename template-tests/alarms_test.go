package templatetests

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestAlarms(t *testing.T) {
	want := map[string]struct{ threshold, periods, missing, metrics string }{
		"DeadLettersWait":     {`1`, `1`, `"notBreaching"`, "ApproximateNumberOfMessagesVisible"},
		"RequestsWaitTooLong": {`1800`, `2`, `"notBreaching"`, "OldestQueued"},
		"RequestsFail":        {`1`, `1`, `"notBreaching"`, "RequestsFailed"},
		"AttemptsPutOff":      {`5`, `3`, `"notBreaching"`, "AttemptsPutOff"},
		"HostFailing":         {`900`, `3`, `"notBreaching"`, "HostFailing"},
		"NetworkFails":        {`3`, `3`, `"notBreaching"`, "UnreachableHosts MediaFetched"},
		"ServerErrors":        {`5`, `1`, `"notBreaching"`, "5XXError StorageRefused"},
		"FunctionsThrottled":  {`1`, `1`, `"notBreaching"`, "Throttles"},
		"FunctionsThrottled2": {`1`, `1`, `"notBreaching"`, "Throttles"},
		"FunctionsThrottled3": {`1`, `1`, `"notBreaching"`, "Throttles"},
		"TableThrottled":      {`10`, `1`, `"notBreaching"`, "ReadThrottleEvents WriteThrottleEvents"},
		"JobsFail":            {`1`, `3`, `"notBreaching"`, "IncomingLogEvents"},
		"OutputsNotSigned":    {`1`, `1`, `"notBreaching"`, "OutputsNotSigned"},
		"EventsFail":          {`3`, `1`, `"notBreaching"`, "EventsDelivered EventsRetried EventsUndelivered"},
		"EventsRefused":       {`1`, `1`, `"notBreaching"`, "EventsRefused"},
		"BackgroundFails":     {`1`, `3`, `"notBreaching"`, "Errors MessagesFailed"},
		"SweepIsSilent":       {`1`, `2`, `"breaching"`, "Errors Invocations"},
	}
	names := deployed().all("AWS::CloudWatch::Alarm")
	if len(names) != len(want) {
		t.Errorf("got the alarms %q, want %d", names, len(want))
	}
	for _, name := range names {
		w := want[name]
		deployed().check(t, []property{
			{name, "Threshold", w.threshold},
			{name, "EvaluationPeriods", w.periods},
			{name, "TreatMissingData", w.missing},
			{name, "AlarmActions", `["Alarms"]`},
			{name, "OKActions", `["Alarms"]`},
		})
		metrics := deployed().get(name, "MetricName") + deployed().get(name, "Metrics")
		for metric := range strings.FieldsSeq(w.metrics) {
			if !strings.Contains(metrics, `"`+metric+`"`) {
				t.Errorf("%s is about %s, want %s", name, metrics, metric)
			}
		}
	}
	deployed().check(t, []property{
		{"DeadLettersWait", "Dimensions", `[{"Name":"QueueName","Value":"DeadLetters.QueueName"}]`},
		{"JobsFail", "Dimensions", `[{"Name":"LogGroupName","Value":"FailedJobs"}]`},
		{"HostFailing", "DatapointsToAlarm", `1`},
		{"AttemptsPutOff", "Dimensions", `[{"Name":"Code","Value":"host_failing"}]`},
		{"StorageRefused", "LogGroupName", `"AccessLog"`},
		{"StorageRefused", "FilterPattern", `"{ $.status = \"507\" }"`},
		{"SweepIsSilent", "ComparisonOperator", `"LessThanThreshold"`},
	})
}

// TestRequestsFail checks that the alarm sums all codes of failures that are not the client's
// fault.
func TestRequestsFail(t *testing.T) {
	metrics := deployed().get("RequestsFail", "Metrics")
	for _, code := range []string{"internal", "host_failing"} {
		if !strings.Contains(metrics, `"Dimensions":[{"Name":"Code","Value":"`+code+`"}]`) {
			t.Errorf("got %s, want failures of code %s in it", metrics, code)
		}
	}
}

// TestFunctionsThrottled checks that the alarm sums all functions behind the API.
func TestFunctionsThrottled(t *testing.T) {
	metrics := deployed().get("FunctionsThrottled", "Metrics") + deployed().get("FunctionsThrottled2", "Metrics") + deployed().get("FunctionsThrottled3", "Metrics")
	for _, f := range routes(t) {
		if !strings.Contains(metrics, `"Value":"`+f+`"`) {
			t.Errorf("the throttling of %s raises no alarm", f)
		}
	}
}

// TestServerErrors checks that the alarm counts the errors of this stack's API, except refusals
// because an account's storage is full.
func TestServerErrors(t *testing.T) {
	metrics := deployed().get("ServerErrors", "Metrics")
	for _, want := range []string{
		`{"Dimensions":[{"Name":"ApiName","Value":"Lipsync"},{"Name":"Stage","Value":"api"}],"MetricName":"5XXError"`,
		`"MetricName":"StorageRefused"`, `failed - FILL(refused, 0)`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("got the metrics %s, want %s", metrics, want)
		}
	}
}

// TestTableThrottled checks that the throttling of the index raises the alarm as well as that of
// the table.
func TestTableThrottled(t *testing.T) {
	metrics := deployed().get("TableThrottled", "Metrics")
	for _, name := range []string{"ReadThrottleEvents", "WriteThrottleEvents"} {
		for _, dimensions := range []string{
			`[{"Name":"TableName","Value":"Table"}]`,
			`[{"Name":"GlobalSecondaryIndexName","Value":"open"},{"Name":"TableName","Value":"Table"}]`,
		} {
			want := `{"Dimensions":` + dimensions + `,"MetricName":"` + name + `","Namespace":"AWS/DynamoDB"}`
			if !strings.Contains(metrics, want) {
				t.Errorf("got the metrics %s, want %s", metrics, want)
			}
		}
	}
}

// TestSums checks that sums count a metric without a value in a period as 0; otherwise they would
// have no value. It also checks that no alarm has more metrics than AWS allows.
func TestSums(t *testing.T) {
	const most = 10
	functions := len(slices.Compact(slices.Sorted(maps.Values(routes(t)))))
	for alarm, terms := range map[string]int{
		"FunctionsThrottled": most, "FunctionsThrottled2": most, "FunctionsThrottled3": functions - 2*most, "TableThrottled": 4, "BackgroundFails": 4,
	} {
		metrics := deployed().get(alarm, "Metrics")
		operands, filled := strings.Count(metrics, `"MetricStat"`), strings.Count(metrics, "FILL(")
		if operands != terms || filled != terms || operands > most {
			t.Errorf("%s adds up %d metrics, and fills %d: want %d, at most %d", alarm, operands, filled, terms, most)
		}
	}
}

// TestEventsFail checks that the alarm looks at whole hours.
func TestEventsFail(t *testing.T) {
	metrics := deployed().get("EventsFail", "Metrics")
	if n := strings.Count(metrics, `"Period":3600`); n != 3 || strings.Contains(metrics, `"Period":300`) {
		t.Errorf("got %s, want three metrics with periods of an hour", metrics)
	}
}

// TestCost checks the number of the alarms' metrics in the README, each of which costs money.
func TestCost(t *testing.T) {
	count := func(of template) (metrics int) {
		for _, name := range of.all("AWS::CloudWatch::Alarm") {
			metrics += max(1, strings.Count(of.get(name, "Metrics"), `"MetricStat"`))
		}
		return metrics
	}
	metrics := count(deployed())
	text, err := os.ReadFile("../infra/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if row := fmt.Sprintf("| alarms | %d metrics × 0.10 [1], %d of them only with `eventBus` | %.2f |", metrics, metrics-count(unmade()), float64(metrics)*0.1); !strings.Contains(string(text), row) {
		t.Errorf("infra/README.md doesn't say %q", row)
	}
}

func TestAlarmTopic(t *testing.T) {
	deployed().check(t, []property{
		{"Alarms", "KmsMasterKeyId", `"AlarmKey.Arn"`},
		{"AlarmKey", "EnableKeyRotation", `true`},
		{"AlarmKey", "KeyPolicy.Statement.1", `{"Action":["kms:Decrypt","kms:GenerateDataKey*"],"Effect":"Allow",` +
			`"Principal":{"Service":"cloudwatch.amazonaws.com"},"Resource":"*"}`},
		{"AlarmKey", "KeyPolicy.Statement.2", ""},
	})
	wantNames(t, "subscriptions", deployed().all("AWS::SNS::Subscription"), nil)
	subscriptions := other().all("AWS::SNS::Subscription")
	if len(subscriptions) != 1 {
		t.Fatalf("got %d subscriptions, want one", len(subscriptions))
	}
	other().check(t, []property{{subscriptions[0], "Endpoint", `"operator@example.com"`}})
}

func TestGraphs(t *testing.T) {
	body := deployed().get("Dashboard", "DashboardBody")
	for _, metric := range []string{
		"RequestsCreated", "RequestsCompleted", "RequestsFailed", "QueueWait", "OldestQueued", "RenderSpeed", "Attempts",
		"5XXError", "Latency", "ApproximateNumberOfMessagesVisible", "HostFailing", "MediaFetched", "OutputsNotSigned",
		"EventsDelivered", "EventsRetried", "EventsUndelivered", "EventsRefused", "WebhookTime",
	} {
		if !strings.Contains(body, metric) {
			t.Errorf("the graphs do not show %s", metric)
		}
	}
}
