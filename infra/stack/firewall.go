package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
)

// addFirewall bounds the calls of each address before they reach a function, if the operator asks for that: clients without a key have no other
// rate than the one of all together.
func (s *service) addFirewall() {
	rate := settings.AddressRate.In(s.Values)
	if rate == 0 {
		return
	}
	const name, limited = "AddressRate", "limited"
	seen := &awswafv2.CfnWebACL_VisibilityConfigProperty{
		CloudWatchMetricsEnabled: true, MetricName: jsii.String(name), SampledRequestsEnabled: false,
	}
	firewall := awswafv2.NewCfnWebACL(s.stack, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Scope: jsii.String("REGIONAL"), VisibilityConfig: seen,
		DefaultAction: &awswafv2.CfnWebACL_DefaultActionProperty{Allow: &awswafv2.CfnWebACL_AllowActionProperty{}},
		CustomResponseBodies: &map[string]*awswafv2.CfnWebACL_CustomResponseBodyProperty{
			limited: {ContentType: jsii.String("APPLICATION_JSON"), Content: jsii.String(`{"error":"` + failure.TooManyCalls + `"}`)},
		},
		Rules: &[]*awswafv2.CfnWebACL_RuleProperty{{
			Name: jsii.String(name), Priority: jsii.Number(0), VisibilityConfig: seen,
			Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
				AggregateKeyType: jsii.String("IP"), EvaluationWindowSec: jsii.Number(60), Limit: jsii.Number(rate),
			}},
			Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{
				CustomResponse: &awswafv2.CfnWebACL_CustomResponseProperty{
					ResponseCode: jsii.Number(429), CustomResponseBodyKey: jsii.String(limited),
					ResponseHeaders: &[]*awswafv2.CfnWebACL_CustomHTTPHeaderProperty{
						{Name: jsii.String("Retry-After"), Value: jsii.String("60")},
						{Name: jsii.String("Access-Control-Allow-Origin"), Value: jsii.String("*")}, // as answers have it
					},
				},
			}},
		}},
	})
	awswafv2.NewCfnWebACLAssociation(s.stack, jsii.String("FirewallOfAPI"), &awswafv2.CfnWebACLAssociationProps{
		ResourceArn: s.api.DeploymentStage().StageArn(), WebAclArn: firewall.AttrArn(),
	})
}
