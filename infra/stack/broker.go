package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/store/dynamodb"
)

// broker returns the function by which runners do requests. It may claim and finish requests, and delete their media. It may neither read nor
// change API keys, uploads and secrets of webhooks.
func (s *service) broker() lambda {
	return lambda{
		name: "broker", timeout: apiTimeout, memory: 512,
		policy: policy{
			onKeys(s.queryOpen(), dynamodb.BrokerQueries()),
			onKeys(s.useTable("BatchGetItem", "Query"), dynamodb.BrokerReads()),
			onKeys(s.useTable("DeleteItem", "PutItem", "UpdateItem"), dynamodb.BrokerWrites()),
			onKeys(s.useTable("PutItem"), dynamodb.BrokerPuts()), s.announce(), s.send(),
			s.useObjects("inputs", "DeleteObject"), s.useObjects("outputs", "DeleteObject"), s.useObjects("pieces", "DeleteObject"), s.missObjects(),
		},
	}
}

// addBroker adds the broker, and the role of which it gives runners sessions. The role may reach the media of all requests, and the policy of a session
// leaves those of one.
func (s *service) addBroker() {
	b := s.broker()
	role := s.functionRole(b)
	s.mediaRole = awsiam.NewRole(s.stack, jsii.String("RequestMedia"), &awsiam.RoleProps{
		Description: jsii.String("Reaches the media of requests for runners"),
		AssumedBy:   awsiam.NewArnPrincipal(role.RoleArn()),
	})
	for _, statement := range (policy{
		s.useObjects("inputs", "GetObject"), s.useObjects("uploads", "GetObject"),
		s.useObjects("outputs", "PutObject", "AbortMultipartUpload", "DeleteObject"),
		s.useObjects("pieces", "GetObject", "PutObject", "AbortMultipartUpload"),
		s.useObjects("findings", "GetObject", "PutObject", "AbortMultipartUpload", "DeleteObject"),
	}) {
		s.mediaRole.AddToPolicy(statement)
	}
	role.AddToPolicy(allow([]string{"sts:AssumeRole"}, s.mediaRole.RoleArn()))
	s.functions["broker"] = s.function(b, role)
}
