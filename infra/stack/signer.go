package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// signer is a role whose sessions sign the URLs that some functions hand out. An
// URL may do what its role may.
type signer struct {
	id        string
	functions []string
	policy    []awsiam.PolicyStatement
}

func (s *service) signers() []signer {
	return []signer{
		{
			id:        "Signer",
			functions: []string{"get-request", "list-requests", "create-upload"},
			policy:    []awsiam.PolicyStatement{s.useObjects("outputs", "GetObject"), s.useObjects("uploads", "PutObject")},
		},
		{
			id:        "DashboardSigner",
			functions: []string{"dashboard"}, // which plays sources too
			policy: []awsiam.PolicyStatement{
				s.useObjects("outputs", "GetObject"), s.useObjects("uploads", "GetObject", "PutObject"), s.useObjects("inputs", "GetObject"),
			},
		},
	}
}

// addSigners adds the roles of signers, and lets their functions assume them. An
// URL dies with the credentials that signed it, and those of a function may be
// about to: a session of such a role holds its hour.
func (s *service) addSigners(functions map[string]awsiam.Role) {
	s.signerOf = map[string]awsiam.Role{}
	for _, g := range s.signers() {
		var trusted []awsiam.IPrincipal
		for _, name := range g.functions {
			trusted = append(trusted, awsiam.NewArnPrincipal(functions[name].RoleArn()))
		}
		role := awsiam.NewRole(s.stack, jsii.String(g.id), &awsiam.RoleProps{
			Description: jsii.String("Signs URLs of media"),
			AssumedBy:   awsiam.NewCompositePrincipal(trusted...),
		})
		for _, statement := range g.policy {
			role.AddToPolicy(statement)
		}
		for _, name := range g.functions {
			functions[name].AddToPolicy(allow([]string{"sts:AssumeRole"}, role.RoleArn()))
			s.signerOf[name] = role
		}
	}
}
