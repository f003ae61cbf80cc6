package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/jsii-runtime-go"
)

// addNetwork adds where the runners' instances are. They have public addresses
// that nothing may connect to, so that they reach users' URLs without a NAT
// gateway, which would cost the same idle or busy; S3 and DynamoDB are reached
// by gateway endpoints, which cost nothing.
func (s *service) addNetwork() {
	s.vpc = awsec2.NewVpc(s.stack, jsii.String("Network"), &awsec2.VpcProps{
		NatGateways:                  jsii.Number(0),
		RestrictDefaultSecurityGroup: jsii.Bool(false), // nothing is in it
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{{
			Name: jsii.String("Public"), SubnetType: awsec2.SubnetType_PUBLIC,
			MapPublicIpOnLaunch: jsii.Bool(true),
		}},
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"S3":       {Service: awsec2.GatewayVpcEndpointAwsService_S3()},
			"DynamoDB": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()},
		},
	})
}
