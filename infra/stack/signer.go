package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// addSigner adds the role whose sessions sign URLs, and lets the functions that
// hand out URLs assume it. An URL dies with the credentials that signed it, and
// those of a function may be about to: a session of this role holds its hour.
func (s *service) addSigner(lambdas []lambda, roles map[string]awsiam.Role) {
	var trusted []awsiam.IPrincipal
	for _, l := range lambdas {
		if l.signs() {
			trusted = append(trusted, awsiam.NewArnPrincipal(roles[l.name].RoleArn()))
		}
	}
	s.signer = awsiam.NewRole(s.stack, jsii.String("Signer"), &awsiam.RoleProps{
		Description: jsii.String("Signs URLs of media"),
		AssumedBy:   awsiam.NewCompositePrincipal(trusted...),
	})
	s.signer.AddToPolicy(s.useObjects("outputs", "GetObject"))
	s.signer.AddToPolicy(s.useObjects("uploads", "PutObject", "GetObject")) // the dashboard plays sources
	s.signer.AddToPolicy(s.useObjects("inputs", "GetObject"))
	for _, l := range lambdas {
		if l.signs() {
			roles[l.name].AddToPolicy(allow([]string{"sts:AssumeRole"}, s.signer.RoleArn()))
		}
	}
}

func (l lambda) signs() bool { return slices.Contains(l.variables, signerRole) }
