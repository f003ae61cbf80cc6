package stack

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/settings"
)

// cognitoRegion is the region of the certificates of Cognito's pages, which CloudFront serves.
const cognitoRegion = "us-east-1"

// checkDomains returns an error if a domain has no certificate, or a certificate no domain.
func checkDomains(v *settings.Values) error {
	for _, pair := range [][2]*settings.Setting[string]{
		{settings.Domain, settings.Certificate}, {settings.SignInDomain, settings.SignInCertificate},
	} {
		for i := range pair {
			if set, missing := pair[i], pair[1-i]; set.In(v) != "" && missing.In(v) == "" {
				return fmt.Errorf("%s needs %s too", set.Context(), missing.Context())
			}
		}
	}
	if arn := settings.SignInCertificate.In(v); arn != "" && strings.Split(arn, ":")[3] != cognitoRegion {
		return fmt.Errorf("%s must be a certificate of %s, which Cognito's pages need in every region", settings.SignInCertificate.Context(), cognitoRegion)
	}
	if d := settings.Domain.In(v); d != "" && d == settings.SignInDomain.In(v) {
		return errors.New("the API and the pages for signing in can't have the same domain")
	}
	return nil
}

// addDomain gives the API the operator's domain, if there is one. The API keeps the address that AWS
// gives it.
func (s *service) addDomain() {
	name := settings.Domain.In(s.Values)
	if name == "" {
		return
	}
	s.ownDomain = awsapigateway.NewDomainName(s.stack, jsii.String("Domain"), &awsapigateway.DomainNameProps{
		DomainName:     jsii.String(name),
		Certificate:    s.certificate("Certificate", settings.Certificate.In(s.Values)),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
	s.ownDomain.AddBasePathMapping(s.api, &awsapigateway.BasePathMappingOptions{
		BasePath: jsii.String(stageName), // so that all paths are the same as at AWS's address
		Stage:    s.api.DeploymentStage(),
	})
}

func (s *service) certificate(id, arn string) awscertificatemanager.ICertificate {
	return awscertificatemanager.Certificate_FromCertificateArn(s.stack, jsii.String(id), jsii.String(arn))
}

// signInDomain returns the domain of Cognito's pages: the operator's, or a prefix of Cognito's own.
func (s *service) signInDomain() *awscognito.UserPoolDomainProps {
	props := &awscognito.UserPoolDomainProps{
		UserPool:            s.users,
		ManagedLoginVersion: awscognito.ManagedLoginVersion_NEWER_MANAGED_LOGIN,
	}
	if name := settings.SignInDomain.In(s.Values); name != "" {
		props.CustomDomain = &awscognito.CustomDomainOptions{
			DomainName: jsii.String(name), Certificate: s.certificate("SignInCertificate", settings.SignInCertificate.In(s.Values)),
		}
	} else {
		props.CognitoDomain = &awscognito.CognitoDomainOptions{DomainPrefix: s.domainPrefix()}
	}
	return props
}

// output is an output of the stack for an operator.
type output struct {
	id    string
	value *string
}

// targets returns the names to which the operator's DNS must lead the operator's domains.
func (s *service) targets() (targets []output) {
	if s.ownDomain != nil {
		targets = append(targets, output{"DomainTarget", s.ownDomain.DomainNameAliasDomainName()})
	}
	if settings.SignInDomain.In(s.Values) != "" {
		targets = append(targets, output{"SignInDomainTarget", s.domain.CloudFrontEndpoint()})
	}
	return targets
}
