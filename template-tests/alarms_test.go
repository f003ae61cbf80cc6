package templatetests

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"lipsync/internal/test/check"
)

func TestAlarms(t *testing.T) {
	want := map[string]struct{ threshold, periods, missing, metrics string }{
		"DeadLettersWait":     {`1`, `1`, `"notBreaching"`, "ApproximateNumberOfMessagesVisible"},
		"RequestsWaitTooLong": {`1800`, `2`, `"notBreaching"`, "OldestQueued"},
		"RequestsFail":        {`1`, `1`, `"notBreaching"`, "RequestsFailed"},
		"AttemptsPutOff":      {`5`, `3`, `"notBreaching"`, "AttemptsPutOff"},
		"HostFailing":         {`900`, `3`, `"notBreaching"`, "HostFailing"},
		"NetworkFails":        {`3`, `3`, `"notBreaching"`, "UnreachableHosts MediaFetched"},
		"ServerErrors":        {`1`, `1`, `"notBreaching"`, "5XXError StorageRefused Count"},
		"CallsSlow":           {`15000`, `3`, `"notBreaching"`, "Latency"},
		"CallsThrottled":      {`1`, `1`, `"notBreaching"`, "RateExceeded Count"},
		"FunctionsThrottled":  {`1`, `1`, `"notBreaching"`, "Throttles Invocations"},
		"TableThrottled":      {`5`, `1`, `"notBreaching"`, "ReadThrottleEvents WriteThrottleEvents ConsumedReadCapacityUnits ConsumedWriteCapacityUnits"},
		"JobsFail":            {`1`, `3`, `"notBreaching"`, "IncomingLogEvents"},
		"JobsBlocked":         {`1`, `1`, `"notBreaching"`, "TriggeredRules"},
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
		{"RateExceeded", "FilterPattern", `"{ $.error = \"THROTTLED\" }"`},
		{"StorageRefused", "FilterPattern", `"{ $.status = \"507\" }"`},
		{"CallsThrottled", "Metrics.0.Expression", `"IF(FILL(part, 0) < 50, 0, 100 * part / FILL(all, 1))"`},
		{"CallsSlow", "ExtendedStatistic", `"p99"`},
		{"JobsBlocked", "Dimensions", `[{"Name":"RuleName","Value":"JobBlocked"}]`},
		{"SweepIsSilent", "ComparisonOperator", `"LessThanThreshold"`},
	})
	other().check(t, []property{
		{"CertificateExpires", "ComparisonOperator", `"LessThanThreshold"`},
		{"CertificateExpires", "Threshold", `21`},
		{"CertificateExpires", "TreatMissingData", `"notBreaching"`},
		{"CertificateExpires", "MetricName", `"DaysToExpiry"`},
		{"CertificateExpires", "Dimensions", `[{"Name":"CertificateArn","Value":"` + certificate + `"}]`},
		{"CertificateExpires", "Period", `86400`},
	})
}

// TestHealthCheck checks that the API is called at the address that clients use, and that silence of the checkers is an alarm.
func TestHealthCheck(t *testing.T) {
	check.Names(t, "checks by default", deployed().all("AWS::Route53::HealthCheck"), nil)
	other().check(t, []property{
		{"HealthCheck", "HealthCheckConfig", `{"FailureThreshold":3,"FullyQualifiedDomainName":"lipsync.example.com","Regions":["us-east-1","eu-west-1","ap-southeast-1"],` +
			`"RequestInterval":30,"ResourcePath":"/api/health","Type":"HTTPS"}`},
		{"Unreachable", "MetricName", `"HealthCheckStatus"`},
		{"Unreachable", "Dimensions", `[{"Name":"HealthCheckId","Value":"HealthCheck.HealthCheckId"}]`},
		{"Unreachable", "ComparisonOperator", `"LessThanThreshold"`},
		{"Unreachable", "Threshold", `1`},
		{"Unreachable", "TreatMissingData", `"breaching"`},
	})
}

// TestPages checks that each alarm has a part in the page for operators, and each part an alarm.
func TestPages(t *testing.T) {
	text, err := os.ReadFile("../infra/alarms.md")
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok && !strings.Contains(name, " ") {
			parts = append(parts, name)
		}
	}
	check.Names(t, "parts", parts, append(other().all("AWS::CloudWatch::Alarm"), other().all("AWS::Budgets::Budget")...))
}

// TestNamespace checks that a stack has metrics of its own, and no other stack's.
func TestNamespace(t *testing.T) {
	for name, of := range map[string]template{"Lipsync": deployed(), "Trial": other()} {
		text := of.get("Dashboard", "DashboardBody")
		for _, alarm := range of.all("AWS::CloudWatch::Alarm") {
			text += of.get(alarm, "Metrics") + `"Namespace":` + of.get(alarm, "Namespace")
		}
		text = strings.ReplaceAll(text, `\`, "")
		if strings.Contains(text, `["Lipsync"`) || strings.Contains(text, `"Namespace":"Lipsync"`) || !strings.Contains(text, "Lipsync/"+name) {
			t.Errorf("%s: alarms and graphs show metrics of all stacks", name)
		}
		var told map[string]string
		if of.read(t, "Sweep", "Environment.Variables", &told); told["LIPSYNC_NAME"] != name {
			t.Errorf("%s: the sweep writes metrics of the stack %q", name, told["LIPSYNC_NAME"])
		}
	}
}

// TestBudget checks that costs beyond the budget, and likely ones, raise an alarm.
func TestBudget(t *testing.T) {
	check.Names(t, "budgets by default", deployed().all("AWS::Budgets::Budget"), nil)
	const subscribers = `[{"Address":"Alarms","SubscriptionType":"SNS"}]`
	other().check(t, []property{
		{"Budget", "Budget.BudgetLimit", `{"Amount":200,"Unit":"USD"}`},
		{"Budget", "NotificationsWithSubscribers.0.Notification", `{"ComparisonOperator":"GREATER_THAN","NotificationType":"ACTUAL","Threshold":100,"ThresholdType":"PERCENTAGE"}`},
		{"Budget", "NotificationsWithSubscribers.0.Subscribers", subscribers},
		{"Budget", "NotificationsWithSubscribers.1.Notification.NotificationType", `"FORECASTED"`},
		{"Budget", "NotificationsWithSubscribers.1.Subscribers", subscribers},
		{"AlarmKey", "KeyPolicy.Statement.1.Principal", `{"Service":["budgets.amazonaws.com","cloudwatch.amazonaws.com"]}`},
	})
	if policy := other().get("AlarmsPolicy", "PolicyDocument"); !strings.Contains(policy, `{"Service":["budgets.amazonaws.com","cloudwatch.amazonaws.com"]}`) {
		t.Errorf("the topic has the policy %s", policy)
	}
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
	for alarm, terms := range map[string][2]int{ // metrics, and those filled by a sum or a share
		"FunctionsThrottled": {2, 2}, "CallsThrottled": {2, 2}, "ServerErrors": {3, 3}, "TableThrottled": {6, 8}, "BackgroundFails": {6, 6},
	} {
		metrics := deployed().get(alarm, "Metrics")
		operands, filled := strings.Count(metrics, `"MetricStat"`), strings.Count(metrics, "FILL(")
		if operands != terms[0] || filled != terms[1] || operands > most {
			t.Errorf("%s has %d metrics, and fills %d: want %d, at most %d", alarm, operands, filled, terms, most)
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
	check.Names(t, "subscriptions", deployed().all("AWS::SNS::Subscription"), nil)
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
		"EventsDelivered", "EventsRetried", "EventsUndelivered", "EventsRefused", "WebhookTime", "CallsNotNoted",
	} {
		if !strings.Contains(body, metric) {
			t.Errorf("the graphs do not show %s", metric)
		}
	}
}
