package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// visibility is the time in seconds for which a message that dispatch got is hidden from other
// calls. Lambda asks for more than six times the timeout of dispatch.
const visibility = 7 * dispatchTimeout

// maxReceives is the number of times that a message is tried. The sweep also starts workers, each
// minute.
const maxReceives = 5

// addQueue adds the queues of waiting requests and of deliveries, and a queue for messages and events of EventBridge
// that could not be handled.
func (s *service) addQueue() {
	s.dead = awssqs.NewQueue(s.stack, jsii.String("DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
	})
	s.queue = awssqs.NewQueue(s.stack, jsii.String("Queue"), &awssqs.QueueProps{
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		RetentionPeriod:   awscdk.Duration_Days(jsii.Number(1)),
		VisibilityTimeout: awscdk.Duration_Seconds(jsii.Number(visibility)),
		DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: s.dead, MaxReceiveCount: jsii.Number(maxReceives)},
	})
	s.deliveries = awssqs.NewQueue(s.stack, jsii.String("Deliveries"), &awssqs.QueueProps{
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		RetentionPeriod:   awscdk.Duration_Days(jsii.Number(1)),
		VisibilityTimeout: awscdk.Duration_Seconds(jsii.Number(7 * deliverTimeout)), // see visibility
		DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: s.dead, MaxReceiveCount: jsii.Number(maxReceives)},
	})
}

// announce allows to send messages to the queue of deliveries.
func (s *service) announce() awsiam.PolicyStatement {
	return allow([]string{"sqs:SendMessage"}, s.deliveries.QueueArn())
}

// send allows to send messages to the queue.
func (s *service) send() awsiam.PolicyStatement {
	return allow([]string{"sqs:SendMessage"}, s.queue.QueueArn())
}
