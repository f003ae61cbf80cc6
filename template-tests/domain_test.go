package templatetests

import (
	"testing"

	"lipsync/internal/test/check"
)

// Certificates of the domains in the template with other settings, and the address of its API.
const (
	certificate       = "arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012"
	signInCertificate = "arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012"
	ownHost           = "https://lipsync.example.com"
)

// TestDomain checks that each address that people see has the operator's domain, if there is one.
func TestDomain(t *testing.T) {
	check.Names(t, "domains", deployed().all("AWS::ApiGateway::DomainName"), nil)
	other().check(t, []property{
		{"Domain", "DomainName", `"lipsync.example.com"`},
		{"Domain", "RegionalCertificateArn", `"` + certificate + `"`},
		{"Domain", "EndpointConfiguration.Types", `["REGIONAL"]`},
		{"Domain", "SecurityPolicy", `"TLS_1_2"`},
		{"DashboardClient", "CallbackURLs", `["` + ownHost + `/api/dashboard/sign-in"]`},
		{"DashboardClient", "LogoutURLs", `["` + ownHost + `/api/dashboard/signed-out"]`},
		{"DashboardPages", "Environment.Variables.LIPSYNC_PUBLIC_URL", `"` + ownHost + `"`},
		{"DashboardPages", "Environment.Variables.LIPSYNC_SIGN_OUT_URL", `"https://SignInDomain/logout"`},
		{"SignInDomain", "Domain", `"auth.example.com"`},
		{"SignInDomain", "CustomDomainConfig.CertificateArn", `"` + signInCertificate + `"`},
		{"SignInDomain", "ManagedLoginVersion", `2`},
	})
	mappings := other().all("AWS::ApiGateway::BasePathMapping")
	if len(mappings) != 1 {
		t.Fatalf("got the mappings %v, want one", mappings)
	}
	other().check(t, []property{
		{mappings[0], "BasePath", `"api"`},
		{mappings[0], "RestApiId", `"Api"`},
		{mappings[0], "Stage", `"ApiDeploymentStageapi"`},
	})
	for name, want := range map[string]string{
		"ApiUrl": ownHost + "/api", "DashboardUrl": ownHost + "/api/dashboard",
		"DomainTarget": "Domain.RegionalDomainName", "SignInDomainTarget": "SignInDomain.CloudFrontDistribution",
	} {
		if got := other().Outputs[name]["Value"]; got != want {
			t.Errorf("%s: got %v, want %s", name, got, want)
		}
	}
}
