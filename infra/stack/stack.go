// Package stack defines all resources of the service on AWS. Each file has one part and the grants
// for that part.
package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"lipsync/infra/stack/alarms"
	"lipsync/internal/domain/settings"
)

// service is the stack while its parts are added. A part may use the parts that were added before
// it.
type service struct {
	stack awscdk.Stack
	Settings

	api       awsapigateway.RestApi
	ownDomain awsapigateway.DomainName // nil if the operator has none

	table  awsdynamodb.Table
	bucket awss3.Bucket
	queue  awssqs.Queue
	// deliveries has the deliveries to webhooks that are due.
	deliveries awssqs.Queue
	dead       awssqs.Queue // messages and events that could not be handled

	vpc    awsec2.Vpc
	fleets []*Fleet
	small  awslambda.Function // does small requests; nil if the setting says none

	users  awscognito.UserPool
	client awscognito.UserPoolClient // the dashboard as a client of Cognito
	domain awscognito.UserPoolDomain
	secret awssecretsmanager.Secret // seals the dashboard's cookies

	signerOf  map[string]signed // key: name of the function whose URLs it signs
	mediaRole awsiam.Role       // of which the broker gives sessions
	functions map[string]awslambda.Function

	failedJobs     awslogs.LogGroup
	jobsBlocked    awsevents.Rule
	storageRefused awscloudwatch.Metric // counts calls of accounts at their storage limit
	callsThrottled awscloudwatch.Metric // counts calls beyond the rate of all clients or of a route
	alarmTopic     awssns.Topic
	rollback       awscloudwatch.Alarm // for RollbackAlarm
}

// costTag is the tag of all parts of the stack, by whose value an account's bill can be split.
const costTag = "lipsync:stack"

// New adds the service's stack to the app.
func New(app awscdk.App, decided Settings) awscdk.Stack {
	s := &service{
		Settings:  decided,
		fleets:    decided.Fleets(),
		functions: map[string]awslambda.Function{},
		stack: awscdk.NewStack(app, jsii.String(settings.Name.In(decided.Values)), &awscdk.StackProps{
			Description:           jsii.String("Lip sync service"),
			TerminationProtection: jsii.Bool(decided.protected()),
		}),
	}
	awscdk.Tags_Of(s.stack).Add(jsii.String(costTag), jsii.String(settings.Name.In(decided.Values)), nil)
	s.stack.AddMetadata(jsii.String(SettingsMetadata), decided.InEffect)
	s.addAPI()
	s.addDomain()
	s.addTable()
	s.addBucket()
	s.addQueue()
	s.addNetwork()
	s.addCompute()
	s.addBroker()
	s.addRunners()
	s.addSmall()
	s.addSignIn()
	s.addFunctions()
	s.addRoutes()
	s.addFirewall()
	s.addEvents()
	s.alarmTopic, s.rollback = alarms.Add(alarms.Parts{
		Stack: s.stack, Values: s.Values, Origin: s.host(), Stage: stageName, Table: s.table, Queue: s.queue, Dead: s.dead, Functions: s.functions,
		ClientFunctions: clientFunctions(), Background: []string{"dispatch", "deliver", "broker", "publish", smallName},
		FailedJobs: s.failedJobs, JobsBlocked: s.jobsBlocked, StorageRefused: s.storageRefused, CallsThrottled: s.callsThrottled,
	})
	s.addOutputs()
	s.addChecks()
	return s.stack
}

// SettingsMetadata is the key of the settings in effect in the template's metadata. The next
// deployment compares its own settings with them.
const SettingsMetadata = "Lipsync::Settings"

// RollbackAlarm is the output with the ARN of the alarm that, raised by an update of the stack, takes it back.
const RollbackAlarm = "RollbackAlarmArn"

// dataRemoval returns the removal policy of parts with data. They stay if the stack is deleted,
// except if the stack could not be made, since they are empty then.
func (s *service) dataRemoval() awscdk.RemovalPolicy {
	if settings.KeepData.In(s.Values) {
		return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}
	return awscdk.RemovalPolicy_DESTROY
}

// logGroup adds a group for the logs of one source. It is deleted with the stack.
func (s *service) logGroup(id string) awslogs.LogGroup {
	group := awslogs.NewLogGroup(s.stack, jsii.String(id), &awslogs.LogGroupProps{RemovalPolicy: awscdk.RemovalPolicy_DESTROY})
	group.Node().DefaultChild().(awslogs.CfnLogGroup).SetRetentionInDays(jsii.Number(settings.LogDays.In(s.Values)))
	return group
}

// addOutputs adds the stack's outputs for an operator.
func (s *service) addOutputs() {
	s.api.Node().TryRemoveChild(jsii.String("Endpoint")) // an output that CDK adds
	for _, o := range append([]output{
		{"ApiUrl", s.address("")},
		{"DashboardUrl", s.address(dashboardPath)},
		{"UserPoolId", s.users.UserPoolId()},
		{"TableName", s.table.TableName()},
		{"BucketName", s.bucket.BucketName()},
		{"QueueUrl", s.queue.QueueUrl()},
		{"DeadLetterQueueUrl", s.dead.QueueUrl()},
		{"AlarmTopicArn", s.alarmTopic.TopicArn()},
		{RollbackAlarm, s.rollback.AlarmArn()},
	}, append(s.targets(), s.jobQueues()...)...) {
		awscdk.NewCfnOutput(s.stack, jsii.String(o.id), &awscdk.CfnOutputProps{Value: o.value})
	}
}
