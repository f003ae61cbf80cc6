package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/store/dynamodb"
)

// leaser returns the function by which runners do requests. It may claim and finish requests, and delete their media. It may neither read nor
// change API keys, uploads and secrets of webhooks.
func (s *service) leaser() lambda {
	return lambda{
		name: "lease", timeout: apiTimeout, memory: 512,
		policy: policy{
			onKeys(s.queryOpen(), dynamodb.LeaseQueries()),
			onKeys(s.useTable("BatchGetItem", "Query"), dynamodb.LeaseReads()),
			onKeys(s.change(), dynamodb.LeaseWrites()),
			onKeys(s.useTable("PutItem"), dynamodb.LeasePuts()), s.announce(), s.send(),
			s.useObjects("inputs", "DeleteObject"), s.useObjects("outputs", "DeleteObject"), s.useObjects("pieces", "DeleteObject"), s.missObjects(),
		},
	}
}

// addLease adds the function lease, and the role of which it gives runners sessions. The role may reach the media of all requests, and the policy of a session
// leaves those of one.
func (s *service) addLease() {
	l := s.leaser()
	role := s.functionRole(l)
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
	s.functions["lease"] = s.function(l, role)
}
