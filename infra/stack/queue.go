package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// visibility is how long a message that dispatch got is hidden from the next,
// in seconds: more than six times what dispatch may take, as Lambda asks.
const visibility = 7 * dispatchTimeout

// maxReceives is how often a message is tried. The sweep sends a new one each
// minute anyway.
const maxReceives = 5

// addQueue adds the queue of requests that wait, and one for what could not be
// handled: messages, and events of EventBridge.
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
}

// send allows to put messages on the queue.
func (s *service) send() awsiam.PolicyStatement {
	return allow([]string{"sqs:SendMessage"}, s.queue.QueueArn())
}
