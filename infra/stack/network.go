package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/settings"
)

// addNetwork adds the network of the runners' instances. They have public addresses that nothing
// may connect to. So they reach users' URLs without a NAT gateway, which costs money even without
// work. They reach S3 and DynamoDB by gateway endpoints, which cost nothing.
func (s *service) addNetwork() {
	s.vpc = awsec2.NewVpc(s.stack, jsii.String("Network"), &awsec2.VpcProps{
		AvailabilityZones:            s.zones(),
		NatGateways:                  jsii.Number(0),
		RestrictDefaultSecurityGroup: jsii.Bool(false), // nothing uses it
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

// subnetMask returns the size of a zone's subnet. It leaves space for more zones, with 4091
// instances in each. Each of two zones has half of the network, as in stacks of versions that
// always had two zones.
func (s *service) subnetMask() *float64 {
	if settings.Zones.In(s.Values) == 2 {
		return nil
	}
	return jsii.Number(20)
}

// zones returns the availability zones that the settings name, or else as many of the region's as they say. If one zone has
// none left of a type of instance, another zone may have some.
func (s *service) zones() *[]*string {
	if names := settings.ZoneNames.In(s.Values); len(names) > 0 {
		return jsii.Strings(names...)
	}
	var zones []*string
	for i := range settings.Zones.In(s.Values) {
		zones = append(zones, awscdk.Fn_Select(jsii.Number(i), awscdk.Fn_GetAzs(nil)))
	}
	return &zones
}
