package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// addChecks has cdk-nag look at the stack when it is synthesised, and says why
// some of its rules do not hold here.
func (s *service) addChecks() {
	awscdk.Aspects_Of(s.stack).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
		Reports: jsii.Bool(true),
	}), nil)
}
