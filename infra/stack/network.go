package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/settings"
)

// addNetwork adds where the runners' instances are. They have public addresses
// that nothing may connect to, so that they reach users' URLs without a NAT
// gateway, which would cost the same idle or busy; S3 and DynamoDB are reached
// by gateway endpoints, which cost nothing.
func (s *service) addNetwork() {
	s.vpc = awsec2.NewVpc(s.stack, jsii.String("Network"), &awsec2.VpcProps{
		AvailabilityZones:            s.zones(),
		NatGateways:                  jsii.Number(0),
		RestrictDefaultSecurityGroup: jsii.Bool(false), // nothing is in it
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{{
			Name: jsii.String("Public"), SubnetType: awsec2.SubnetType_PUBLIC,
			MapPublicIpOnLaunch: jsii.Bool(true),
			CidrMask:            s.subnetMask(),
		}},
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"S3":       {Service: awsec2.GatewayVpcEndpointAwsService_S3()},
			"DynamoDB": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()},
		},
	})
}

// subnetMask leaves room for more zones, with 4091 instances in each. Of two zones each has
// half of the network, as in stacks that were made when there were never more.
func (s *service) subnetMask() *float64 {
	if settings.Zones.In(s.Values) == 2 {
		return nil
	}
	return jsii.Number(20)
}

// zones are as many of the region's availability zones as the settings say. A type of
// instance that one zone has no more of, or never had, may be had in another.
func (s *service) zones() *[]*string {
	var zones []*string
	for i := range settings.Zones.In(s.Values) {
		zones = append(zones, awscdk.Fn_Select(jsii.Number(i), awscdk.Fn_GetAzs(nil)))
	}
	return &zones
}
