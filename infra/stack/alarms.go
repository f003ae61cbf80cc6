package stack

import (
	"slices"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
)

// longestWait is the wait of a request, in seconds, that raises an alarm. It is several times as
// long as an instance needs to start and pull the image.
const longestWait = 30 * 60

// longestFault is the time, in seconds, for which faults of the runners' machines may postpone a
// request before an alarm is raised. After short faults of S3 and DynamoDB the request is done before.
const longestFault = 15 * 60

// alarm is raised when a metric is at least the limit for a number of its periods. With any, one of
// these periods is enough, so the alarm stays for the others. With silence, it is raised when the
// metric is less than the limit or has no value.
type alarm struct {
	id, description string
	metric          awscloudwatch.IMetric
	limit, periods  int
	any, silence    bool
}

// alarms returns the alarms that an operator must learn of at once.
func (s *service) alarms() []alarm {
	all := append(s.throttled(), []alarm{
		{id: "DeadLettersWait", description: "A message or event could not be handled: see the dead-letter queue",
			metric: s.deadLetters(), limit: 1, periods: 1},
		{id: "RequestsWaitTooLong", description: "The oldest queued request waits for half an hour: see Batch, and the quota of vCPUs",
			metric: ours("OldestQueued", "Maximum"), limit: longestWait, periods: 2},
		{id: "RequestsFail", description: "Requests fail by our own fault: see the log of the runner",
			metric: ownFaults(), limit: 1, periods: 1},
		{id: "AttemptsPutOff", description: "Attempts fail and are postponed: S3, DynamoDB or the runners' machines fail: see the log of the runner",
			metric: ofCode("AttemptsPutOff", failure.HostFailing), limit: 5, periods: 3},
		{id: "HostFailing", description: "S3, DynamoDB or the runners' machines fail, and have held up a request for a quarter of an hour: see the log of the runner",
			metric: ours("HostFailing", "Maximum"), limit: longestFault, periods: 3, any: true}, // the metric is 0 while the request is tried again
		{id: "NetworkFails", description: "No media are fetched, and several hosts can't be reached: see the runners' network",
			metric: unreachableHosts(), limit: 3, periods: 3},
		{id: "ServerErrors", description: "The API answers with 5xx, except for full accounts: see the logs of the access and the functions",
			metric: s.serverErrors(), limit: 5, periods: 1},
		{id: "TableThrottled", description: "DynamoDB throttles the table",
			metric: s.tableThrottles(), limit: 10, periods: 1},
		{id: "JobsFail", description: "Runners crash or can't be started, again and again: see the log of failed jobs",
			metric: s.jobsFailed(), limit: 1, periods: 3},
		{id: "OutputsNotSigned", description: "Outputs have no signed manifest: see the log of the runner, and the secret of the key",
			metric: ours("OutputsNotSigned", "Sum"), limit: 1, periods: 1},
		{id: "EventsFail", description: "No event was delivered to any webhook for an hour, and attempts failed: see the log of deliver, and the webhooks",
			metric: eventsNotDelivered(), limit: 3, periods: 1},
		{id: "BackgroundFails", description: "dispatch, deliver or publish fails again and again: see their logs",
			metric: s.backgroundFailures(), limit: 1, periods: 3},
		{id: "SweepIsSilent", description: "No sweep has come to its end for ten minutes: lost requests stay lost",
			metric: s.sweeps(), limit: 1, periods: 2, silence: true},
	}...)
	if _, there := s.functions["publish"]; there {
		all = append(all, alarm{id: "EventsRefused", description: "The bus will never take an event, so it is lost: see the log of publish",
			metric: ours("EventsRefused", "Sum"), limit: 1, periods: 1})
	}
	return all
}

// throttled returns alarms for throttled functions of the API. Each alarm adds up at most ten
// metrics.
func (s *service) throttled() (all []alarm) {
	for functions := range slices.Chunk(clientFunctions(), 10) {
		id := "FunctionsThrottled"
		if len(all) > 0 {
			id += strconv.Itoa(len(all) + 1)
		}
		all = append(all, alarm{id: id, description: "Lambda has no more room for calls: see the quota of concurrent executions",
			metric: s.functionSum("throttles", "Throttles", functions), limit: 1, periods: 1})
	}
	return all
}

// addAlarms adds the alarms and the topic that they notify.
func (s *service) addAlarms() {
	action := awscloudwatchactions.NewSnsAction(s.alarmTopic())
	for _, a := range s.alarms() {
		comparison := awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD
		missing := awscloudwatch.TreatMissingData_NOT_BREACHING
		if a.silence {
			comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
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
		alarm := awscloudwatch.NewAlarm(s.stack, jsii.String(a.id), props)
		alarm.AddAlarmAction(action)
		alarm.AddOkAction(action)
		s.raised = append(s.raised, alarm)
	}
}

// alarmTopic returns the topic of the alarms. The stack's own key encrypts it, since CloudWatch may
// not use the key of SNS.
func (s *service) alarmTopic() awssns.Topic {
	const service = "cloudwatch.amazonaws.com"
	key := awskms.NewKey(s.stack, jsii.String("AlarmKey"), &awskms.KeyProps{
		Description:       jsii.String("Encrypts alarms"),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     awscdk.RemovalPolicy_DESTROY,
	})
	key.Grant(awsiam.NewServicePrincipal(jsii.String(service), nil), jsii.String("kms:Decrypt"), jsii.String("kms:GenerateDataKey*"))
	topic := awssns.NewTopic(s.stack, jsii.String("Alarms"), &awssns.TopicProps{
		MasterKey:  key,
		EnforceSSL: jsii.Bool(true),
	})
	publish := allow([]string{"sns:Publish"}, topic.TopicArn())
	publish.AddServicePrincipal(jsii.String(service), nil)
	publish.AddCondition(jsii.String("StringEquals"), map[string]*string{"aws:SourceAccount": s.stack.Account()})
	topic.AddToResourcePolicy(publish)
	if settings.AlarmEmail.In(s.Values) != "" {
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(settings.AlarmEmail.In(s.Values)), nil))
	}
	return topic
}
