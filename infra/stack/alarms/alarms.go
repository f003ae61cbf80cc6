// Package alarms tells the operator how the stack is: alarms and their topic, graphs, and the budget.
package alarms

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
)

// Parts has the parts of the stack that alarms and graphs tell of.
type Parts struct {
	Stack  awscdk.Stack
	Values *settings.Values
	Origin string // of the API
	Stage  string // of the API

	Table       awsdynamodb.Table
	Queue, Dead awssqs.Queue
	Functions   map[string]awslambda.Function
	// ClientFunctions has the names of the functions behind the API, and Background those of others whose failures nobody else sees.
	ClientFunctions, Background []string

	FailedJobs  awslogs.LogGroup
	JobsBlocked awsevents.Rule
	// StorageRefused counts calls of accounts at their storage limit, and CallsThrottled those beyond the rate of all clients or of a route.
	StorageRefused, CallsThrottled awscloudwatch.Metric
}

// watch is the alarms while they are added.
type watch struct {
	Parts
	topic    awssns.Topic
	raised   []awscloudwatch.Alarm
	rollback awscloudwatch.Alarm
}

// Add adds the alarms with the topic that they notify, the budget and the graphs. It returns the topic, and the alarm that, raised by an update of the
// stack, takes it back.
func Add(parts Parts) (topic awssns.Topic, rollback awscloudwatch.Alarm) {
	w := &watch{Parts: parts}
	w.addAlarms()
	w.addBudget()
	w.addGraphs()
	return w.topic, w.rollback
}

// longestWait is the wait of a request, in seconds, that raises an alarm. It is several times as
// long as an instance needs to start and pull the image.
const longestWait = 30 * 60

// longestFault is the time, in seconds, for which faults of the runners' machines may postpone a
// request before an alarm is raised. After short faults of S3 and DynamoDB the request is done before.
const longestFault = 15 * 60

// slowCall is the time of a call, in milliseconds, that raises an alarm. The tool get of assistants waits for up to 10 s.
const slowCall = 15_000

// soonExpired is the number of days for which a certificate is still valid that raises an alarm. ACM renews its own 60 days before they expire.
const soonExpired = 21

// alarm is raised when a metric is at least the limit for a number of its periods. With any, one of
// these periods is enough, so the alarm stays for the others. With below, it is raised when the
// metric is less than the limit. With silence, it is raised when it has no value, too.
type alarm struct {
	id, description     string
	metric              awscloudwatch.IMetric
	limit, periods      int
	any, below, silence bool
}

// serverErrors is the alarm that a faulty release raises first.
const serverErrors = "ServerErrors"

// alarms returns the alarms that an operator must learn of at once.
func (w *watch) alarms() []alarm {
	all := []alarm{
		{id: "DeadLettersWait", description: "A message or event could not be handled: see the dead-letter queue",
			metric: w.deadLetters(), limit: 1, periods: 1},
		{id: "RequestsWaitTooLong", description: "The oldest queued request waits for half an hour: see the log of failed jobs, Batch, and the quota of vCPUs",
			metric: w.ours("OldestQueued", "Maximum"), limit: longestWait, periods: 2},
		{id: "RequestsFail", description: "Requests fail by our own fault: see the logs of broker and of the runner",
			metric: w.ownFaults(), limit: 1, periods: 1},
		{id: "AttemptsPutOff", description: "Attempts fail and are postponed: S3, DynamoDB or the runners' machines fail: see the log of the runner",
			metric: w.ofCode("AttemptsPutOff", failure.HostFailing), limit: 5, periods: 3},
		{id: "HostFailing", description: "S3, DynamoDB or the runners' machines fail, and have held up a request for a quarter of an hour: see the log of the runner",
			metric: w.ours("HostFailing", "Maximum"), limit: longestFault, periods: 3, any: true}, // the metric is 0 while the request is tried again
		{id: "NetworkFails", description: "No media are fetched, and several hosts can't be reached: see the runners' network",
			metric: w.unreachableHosts(), limit: 3, periods: 3},
		{id: serverErrors, description: "The API answers 1 % of calls with 5xx, full accounts apart: see the logs of the access and the functions",
			metric: share("serverErrors", 5, w.serverErrors(), w.apiMetric("Count", "Sum")), limit: 1, periods: 1},
		{id: "CallsSlow", description: "A hundredth of the API's calls take 15 s or more: see the log of the access",
			metric: w.apiMetric("Latency", "p99"), limit: slowCall, periods: 3},
		{id: "CallsThrottled", description: "API Gateway refuses 1 % of calls, of all clients: see the log of the access for who calls, and the setting requestRate",
			metric: share("callsThrottled", 50, w.CallsThrottled, w.apiMetric("Count", "Sum")), limit: 1, periods: 1},
		{id: "FunctionsThrottled", description: "Lambda has no room for 1 % of calls of the account's functions: see its quota of concurrent executions",
			metric: share("functionsThrottled", 5, ofLambda("Throttles"), ofLambda("Invocations")), limit: 1, periods: 1},
		{id: "TableThrottled", description: "DynamoDB throttles the table: 5 of 100 units",
			metric: share("tableThrottled", 10, w.tableThrottles(), w.tableUnits()), limit: 5, periods: 1},
		{id: "JobsFail", description: "Runners crash or can't be started, again and again: see the log of failed jobs",
			metric: w.jobsFailed(), limit: 1, periods: 3},
		{id: "JobsBlocked", description: "Batch can't start a job: the log of failed jobs has the reason, such as a quota or a setting",
			metric: metric("AWS/Events", "TriggeredRules", "Sum", map[string]*string{"RuleName": w.JobsBlocked.RuleName()}), limit: 1, periods: 1},
		{id: "OutputsNotSigned", description: "Outputs have no signed manifest: see the log of the runner, and the secret of the key",
			metric: w.ours("OutputsNotSigned", "Sum"), limit: 1, periods: 1},
		{id: "EventsFail", description: "No event was delivered to any webhook for an hour, and attempts failed: see the log of deliver, and the webhooks",
			metric: w.eventsNotDelivered(), limit: 3, periods: 1},
		{id: "BackgroundFails", description: "dispatch, deliver, broker, publish or small fails again and again: see their logs",
			metric: w.backgroundFailures(), limit: 1, periods: 3},
		{id: "SweepIsSilent", description: "No sweep has come to its end for ten minutes: lost requests stay lost",
			metric: w.sweeps(), limit: 1, periods: 2, below: true, silence: true},
	}
	if _, there := w.Functions["publish"]; there {
		all = append(all, alarm{id: "EventsRefused", description: "The bus will never take an event, so it is lost: see the log of publish",
			metric: w.ours("EventsRefused", "Sum"), limit: 1, periods: 1})
	}
	if settings.HealthCheck.In(w.Values) {
		all = append(all, alarm{id: "Unreachable", description: "The API can't be called from outside: see the log of the access, and AWS's health",
			metric: w.health(), limit: 1, periods: 1, below: true, silence: true})
	}
	if arn := settings.Certificate.In(w.Values); arn != "" {
		all = append(all, alarm{id: "CertificateExpires", description: "The API's certificate expires within three weeks: see Certificate Manager",
			metric: expiry(arn), limit: soonExpired, periods: 1, below: true})
	}
	return all
}

// addAlarms adds the alarms and the topic that they notify.
func (w *watch) addAlarms() {
	w.topic = w.newAlarmTopic()
	action := awscloudwatchactions.NewSnsAction(w.topic)
	for _, a := range w.alarms() {
		comparison := awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD
		missing := awscloudwatch.TreatMissingData_NOT_BREACHING
		if a.below {
			comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
		}
		if a.silence {
			missing = awscloudwatch.TreatMissingData_BREACHING
		}
		props := &awscloudwatch.AlarmProps{
			AlarmDescription:   jsii.String(a.description),
			Metric:             a.metric,
			Threshold:          jsii.Number(a.limit),
			EvaluationPeriods:  jsii.Number(a.periods),
			ComparisonOperator: comparison,
			TreatMissingData:   missing,
		}
		if a.any {
			props.DatapointsToAlarm = jsii.Number(1)
		}
		alarm := awscloudwatch.NewAlarm(w.Stack, jsii.String(a.id), props)
		alarm.AddAlarmAction(action)
		alarm.AddOkAction(action)
		w.raised = append(w.raised, alarm)
		if a.id == serverErrors {
			w.rollback = alarm
		}
	}
}

// newAlarmTopic adds the topic of the alarms. The stack's own key encrypts it, since CloudWatch may
// not use the key of SNS.
func (w *watch) newAlarmTopic() awssns.Topic {
	services := []string{"cloudwatch.amazonaws.com"}
	if settings.MonthlyBudget.In(w.Values) > 0 {
		services = append(services, budgets)
	}
	key := awskms.NewKey(w.Stack, jsii.String("AlarmKey"), &awskms.KeyProps{
		Description:       jsii.String("Encrypts alarms"),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_DESTROY,
	})
	for _, service := range services {
		key.Grant(awsiam.NewServicePrincipal(jsii.String(service), nil), jsii.String("kms:Decrypt"), jsii.String("kms:GenerateDataKey*"))
	}
	topic := awssns.NewTopic(w.Stack, jsii.String("Alarms"), &awssns.TopicProps{
		MasterKey:  key,
		EnforceSSL: jsii.Bool(true),
	})
	publish := awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()}})
	for _, service := range services {
		publish.AddServicePrincipal(jsii.String(service), nil)
	}
	publish.AddCondition(jsii.String("StringEquals"), map[string]*string{"aws:SourceAccount": w.Stack.Account()})
	topic.AddToResourcePolicy(publish)
	if settings.AlarmEmail.In(w.Values) != "" {
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(settings.AlarmEmail.In(w.Values)), nil))
	}
	return topic
}
