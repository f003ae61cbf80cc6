package alarms

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/http/rest"
)

// HealthRegion is the region in which Route 53 tells of its checks.
const HealthRegion = "us-east-1"

// health adds a check of the API from outside of AWS's region, and returns its metric: 0 while most of the checkers get no 2xx or 3xx.
func (w *watch) health() awscloudwatch.IMetric {
	check := awsroute53.NewCfnHealthCheck(w.Stack, jsii.String("HealthCheck"), &awsroute53.CfnHealthCheckProps{
		HealthCheckConfig: &awsroute53.CfnHealthCheck_HealthCheckConfigProperty{
			Type:                     jsii.String("HTTPS"),
			FullyQualifiedDomainName: jsii.String(strings.TrimPrefix(w.Origin, "https://")),
			ResourcePath:             jsii.String(rest.Base + rest.HealthPath),
			RequestInterval:          jsii.Number(30),
			FailureThreshold:         jsii.Number(3),
			Regions:                  jsii.Strings("us-east-1", "eu-west-1", "ap-southeast-1"), // the fewest that Route 53 takes, since each call costs
		},
	})
	return metric("AWS/Route53", "HealthCheckStatus", "Minimum", map[string]*string{"HealthCheckId": check.AttrHealthCheckId()})
}
