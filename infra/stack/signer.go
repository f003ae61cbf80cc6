package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/rest"
	"lipsync/internal/s3"
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
			functions: signing(),
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

// signing has the functions whose endpoints need to sign URLs.
func signing() []string {
	var names []string
	for _, e := range rest.Endpoints() {
		if slices.Contains(e.Needs, rest.SignURLs) {
			names = append(names, e.Function)
		}
	}
	return names
}

// signerHours is how long a session lasts of a role that Cognito vouches for: see
// internal/s3.
const signerHours = 12

// signed is what a function is told of its signer.
type signed struct {
	role awsiam.Role
	pool awscognito.CfnIdentityPool
}

// addSigners adds the roles of signers, and lets their functions assume them. An
// URL dies with the credentials that signed it, and those of a function may be
// about to. A session that a function takes on by itself lasts an hour: so each signer
// has a pool of identities, by which a function gets sessions of half a day.
func (s *service) addSigners(functions map[string]awsiam.Role) {
	s.signerOf = map[string]signed{}
	for _, g := range s.signers() {
		var trusted []awsiam.IPrincipal
		for _, name := range g.functions {
			trusted = append(trusted, awsiam.NewArnPrincipal(functions[name].RoleArn()))
		}
		pool := awscognito.NewCfnIdentityPool(s.stack, jsii.String(g.id+"Pool"), &awscognito.CfnIdentityPoolProps{
			AllowUnauthenticatedIdentities: false, AllowClassicFlow: true, // which gives tokens for STS
			DeveloperProviderName: jsii.String(s3.Provider),
		})
		trusted = append(trusted, awsiam.NewWebIdentityPrincipal(jsii.String("cognito-identity.amazonaws.com"), &map[string]any{
			"StringEquals":           map[string]any{"cognito-identity.amazonaws.com:aud": pool.Ref()},
			"ForAnyValue:StringLike": map[string]any{"cognito-identity.amazonaws.com:amr": "authenticated"},
		}))
		role := awsiam.NewRole(s.stack, jsii.String(g.id), &awsiam.RoleProps{
			Description:        jsii.String("Signs URLs of media"),
			AssumedBy:          awsiam.NewCompositePrincipal(trusted...),
			MaxSessionDuration: awscdk.Duration_Hours(jsii.Number(signerHours)),
		})
		for _, statement := range g.policy {
			role.AddToPolicy(statement)
		}
		for _, name := range g.functions {
			functions[name].AddToPolicy(allow([]string{"sts:AssumeRole"}, role.RoleArn()))
			functions[name].AddToPolicy(allow([]string{"cognito-identity:GetOpenIdTokenForDeveloperIdentity"}, s.identityPool(pool)))
			s.signerOf[name] = signed{role, pool}
		}
	}
}

// identityPool is the pool's ARN.
func (s *service) identityPool(p awscognito.CfnIdentityPool) *string {
	return jsii.String("arn:" + *s.stack.Partition() + ":cognito-identity:" + *s.stack.Region() + ":" + *s.stack.Account() + ":identitypool/" + *p.Ref())
}
