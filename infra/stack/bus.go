package stack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/settings"
	"lipsync/internal/store/dynamodb"
)

// publishes reports whether events go to a bus of the operator.
func (s *service) publishes() bool { return settings.EventBus.In(s.Values) != "" }

// publisher returns the function that puts events on the bus. It reads them in the stream of the table, and needs no right to the table.
func (s *service) publisher() lambda {
	return lambda{
		name: "publish", timeout: publishTimeout, memory: 512,
		policy: policy{s.putEvents()},
	}
}

// putEvents allows to put events on the operator's bus.
func (s *service) putEvents() awsiam.PolicyStatement {
	bus := settings.EventBus.In(s.Values)
	if !strings.HasPrefix(bus, "arn:") {
		bus = "arn:" + *s.stack.Partition() + ":events:" + *s.stack.Region() + ":" + *s.stack.Account() + ":event-bus/" + bus
	}
	return allow([]string{"events:PutEvents"}, jsii.String(bus))
}

// publishedHours is the time after which an event that the bus does not take goes to the dead letters. The stream has changes for 24 hours.
const publishedHours = 23

// publish connects the function with the stream. Each of the stream's shards waits for its own events only.
func (s *service) publish() {
	var filters []*map[string]any
	for _, pattern := range dynamodb.StreamFilters() {
		filters = append(filters, &map[string]any{"pattern": jsii.String(pattern)})
	}
	s.functions["publish"].AddEventSource(awslambdaeventsources.NewDynamoEventSource(s.table,
		&awslambdaeventsources.DynamoEventSourceProps{
			StartingPosition:        awslambda.StartingPosition_TRIM_HORIZON,
			BatchSize:               jsii.Number(100),
			Filters:                 &filters,
			MaxRecordAge:            awscdk.Duration_Hours(jsii.Number(publishedHours)),
			OnFailure:               awslambdaeventsources.NewSqsDlq(s.dead),
			ReportBatchItemFailures: jsii.Bool(true),
		}))
}
