package templatetests

import (
	"testing"

	"lipsync/internal/test/check"
)

// host is the address of the API in the templates.
const host = "https://Api.execute-api.AWS::Region.AWS::URLSuffix"

func TestUsers(t *testing.T) {
	deployed().check(t, []property{
		{"Users", "UsernameAttributes", `["email"]`},
		{"Users", "UsernameConfiguration", `{"CaseSensitive":false}`},
		{"Users", "Schema", `[{"Mutable":true,"Name":"email","Required":true}]`},
		{"Users", "AutoVerifiedAttributes", `["email"]`},
		{"Users", "UserAttributeUpdateSettings", `{"AttributesRequireVerificationBeforeUpdate":["email"]}`},
		{"Users", "Policies.PasswordPolicy", `{"MinimumLength":12,"RequireLowercase":true,"RequireNumbers":true,` +
			`"RequireSymbols":true,"RequireUppercase":true,"TemporaryPasswordValidityDays":7}`},
		{"Users", "MfaConfiguration", `"OPTIONAL"`},
		{"Users", "EnabledMfas", `["SOFTWARE_TOKEN_MFA"]`},
		{"Users", "SmsConfiguration", ""},
		{"Users", "AccountRecoverySetting", `{"RecoveryMechanisms":[{"Name":"verified_email","Priority":1}]}`},
		{"Users", "UserPoolTier", `"ESSENTIALS"`},
		{"Users", "DeletionProtection", `"ACTIVE"`},
		{"Users", "AdminCreateUserConfig.AllowAdminCreateUserOnly", `true`},
		{"Users", "AdminCreateUserConfig.InviteMessageTemplate.EmailMessage",
			`"Sign in at ` + host + `/api/dashboard as {username} with the password {####} within 7 days."`},
	})
	other().check(t, []property{
		{"Users", "DeletionProtection", `"INACTIVE"`},
		{"Users", "AdminCreateUserConfig.AllowAdminCreateUserOnly", `false`},
	})
}

// TestClient checks that Cognito sends people only to the dashboard.
func TestClient(t *testing.T) {
	check.Names(t, "clients", deployed().all("AWS::Cognito::UserPoolClient"), []string{"DashboardClient"})
	deployed().check(t, []property{
		{"DashboardClient", "UserPoolId", `"Users"`},
		{"DashboardClient", "GenerateSecret", `false`},
		{"DashboardClient", "AllowedOAuthFlows", `["code"]`},
		{"DashboardClient", "AllowedOAuthScopes", `["openid","email"]`},
		{"DashboardClient", "CallbackURLs", `["` + host + `/api/dashboard/sign-in"]`},
		{"DashboardClient", "LogoutURLs", `["` + host + `/api/dashboard/signed-out"]`},
		{"DashboardClient", "SupportedIdentityProviders", `["COGNITO"]`},
		{"DashboardClient", "PreventUserExistenceErrors", `"ENABLED"`},
		{"DashboardClient", "RefreshTokenValidity", `720`}, // minutes: a session of the dashboard
		{"DashboardClient", "ExplicitAuthFlows", `["ALLOW_USER_SRP_AUTH","ALLOW_REFRESH_TOKEN_AUTH"]`},
		{"SignInDomain", "UserPoolId", `"Users"`},
		{"SignInDomain", "Domain", `"lipsync-AWS::StackId part 2"`},
		{"SignInDomain", "ManagedLoginVersion", `2`},
		{"SignInStyle", "ClientId", `"DashboardClient"`},
		{"SignInStyle", "UseCognitoProvidedValues", `true`},
	})
}

// TestDashboardIsTold checks the variables that only the dashboard's function has.
func TestDashboardIsTold(t *testing.T) {
	deployed().check(t, []property{
		{"DashboardPages", "Environment.Variables.LIPSYNC_PUBLIC_URL", `"` + host + `"`},
		{"DashboardPages", "Environment.Variables.LIPSYNC_ISSUER", `"https://Users.ProviderName"`},
		{"DashboardPages", "Environment.Variables.LIPSYNC_CLIENT_ID", `"DashboardClient"`},
		{"DashboardPages", "Environment.Variables.LIPSYNC_SIGN_OUT_URL", `"https://SignInDomain.auth.AWS::Region.amazoncognito.com/logout"`},
		{"DashboardPages", "Environment.Variables.LIPSYNC_SECRET_ARN", `"SessionSecret"`},
		{"SessionSecret", "GenerateSecretString", `{"ExcludePunctuation":true,"PasswordLength":64}`},
	})
}
