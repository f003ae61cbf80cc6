package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/http/rest"
	"lipsync/internal/store/s3"
)

// signer is a role whose sessions sign the URLs that some functions return. A URL has the rights of
// its role.
type signer struct {
	id        string
	functions []string
	policy    []awsiam.PolicyStatement
}

func (s *service) signers() []signer {
	return []signer{
		{
			id:        "Signer",
			functions: s.signing(),
			policy:    []awsiam.PolicyStatement{s.useObjects("outputs", "GetObject"), s.useObjects("uploads", "PutObject")},
		},
		{
			id:        "DashboardSigner",
			functions: []string{"dashboard"}, // it also plays inputs
			policy: []awsiam.PolicyStatement{
				s.useObjects("outputs", "GetObject"), s.useObjects("uploads", "GetObject", "PutObject"), s.useObjects("inputs", "GetObject"),
			},
		},
	}
}

// signing returns the functions that need to sign URLs for clients.
func (s *service) signing() []string {
	names := []string{"deliver", "mcp"} // they send URLs of outputs
	if s.publishes() {
		names = append(names, "publish")
	}
	for _, e := range rest.Endpoints() {
		if slices.Contains(e.Needs, rest.SignURLs) {
			names = append(names, e.Function)
		}
	}
	return names
}

// signerHours is the length in hours of a session with a token of Cognito: see internal/store/s3.
const signerHours = 12

// signed has a function's variables about its signer.
type signed struct {
	role awsiam.Role
	pool awscognito.CfnIdentityPool
}

// addSigners adds the roles of signers and lets their functions assume them. A URL ends with the
// credentials that signed it, and a function's own credentials may end soon. A session that a
// function assumes by itself lasts an hour. So each signer has a pool of identities, which gives a
// function sessions of half a day.
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

// identityPool returns the pool's ARN.
func (s *service) identityPool(p awscognito.CfnIdentityPool) *string {
	return jsii.String("arn:" + *s.stack.Partition() + ":cognito-identity:" + *s.stack.Region() + ":" + *s.stack.Account() + ":identitypool/" + *p.Ref())
}
