package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/settings"
)

// Paths of the dashboard below the stage: see internal/http/dashboard.
const (
	dashboardPath = "/dashboard"
	signInPath    = dashboardPath + "/sign-in"
	signedOutPath = dashboardPath + "/signed-out"
)

// firstPasswordDays is the number of days for which the password of an invitation is valid.
const firstPasswordDays = 7

// sessionSecretLength is the number of letters and digits of the secret, which has some 380 bits.
const sessionSecretLength = 64

// addSignIn adds the sign-in to the dashboard: the users, their sign-in pages, and the secret of
// their sessions.
func (s *service) addSignIn() {
	s.addUsers()
	s.addClient()
	s.secret = awssecretsmanager.NewSecret(s.stack, jsii.String("SessionSecret"), &awssecretsmanager.SecretProps{
		Description: jsii.String("Seals the cookies of the dashboard"),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength: jsii.Number(sessionSecretLength), ExcludePunctuation: jsii.Bool(true),
		},
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}

// addUsers adds the pool of users. A user's e-mail address is the user's name. Users can sign in
// only after they have confirmed that address.
func (s *service) addUsers() {
	yes, email := jsii.Bool(true), jsii.Bool(true)
	s.users = awscognito.NewUserPool(s.stack, jsii.String("Users"), &awscognito.UserPoolProps{
		SelfSignUpEnabled:   jsii.Bool(settings.SelfSignUp.In(s.Values)),
		SignInAliases:       &awscognito.SignInAliases{Email: email},
		SignInCaseSensitive: jsii.Bool(false),
		AutoVerify:          &awscognito.AutoVerifiedAttrs{Email: email},
		KeepOriginal:        &awscognito.KeepOriginalAttrs{Email: email},
		StandardAttributes: &awscognito.StandardAttributes{
			Email: &awscognito.StandardAttribute{Required: yes, Mutable: yes},
		},
		PasswordPolicy: &awscognito.PasswordPolicy{
			MinLength:     jsii.Number(12),
			RequireDigits: yes, RequireLowercase: yes, RequireUppercase: yes, RequireSymbols: yes,
			TempPasswordValidity: awscdk.Duration_Days(jsii.Number(firstPasswordDays)),
		},
		Mfa:             awscognito.Mfa_OPTIONAL,
		MfaSecondFactor: &awscognito.MfaSecondFactor{Otp: yes, Sms: jsii.Bool(false)},
		AccountRecovery: awscognito.AccountRecovery_EMAIL_ONLY,
		FeaturePlan:     awscognito.FeaturePlan_ESSENTIALS, // the cheapest plan with managed sign-in
		UserInvitation: &awscognito.UserInvitationConfig{
			EmailSubject: jsii.String("Your invitation to the lip sync service"),
			EmailBody: jsii.String(fmt.Sprintf("Sign in at %s as {username} with the password {####} within %d days.",
				*s.address(dashboardPath), firstPasswordDays)),
		},
		DeletionProtection: jsii.Bool(s.protected()),
		RemovalPolicy:      s.dataRemoval(),
	})
}

// addClient lets only the dashboard send people to Cognito's pages. The client has no secret: the
// browser has the verifier that an attacker would need, see internal/http/openid.
func (s *service) addClient() {
	s.client = awscognito.NewUserPoolClient(s.stack, jsii.String("DashboardClient"), &awscognito.UserPoolClientProps{
		UserPool:       s.users,
		GenerateSecret: jsii.Bool(false),
		OAuth: &awscognito.OAuthSettings{
			Flows:        &awscognito.OAuthFlows{AuthorizationCodeGrant: jsii.Bool(true)},
			Scopes:       &[]awscognito.OAuthScope{awscognito.OAuthScope_OPENID(), awscognito.OAuthScope_EMAIL()},
			CallbackUrls: &[]*string{s.address(signInPath)},
			LogoutUrls:   &[]*string{s.address(signedOutPath)},
		},
		AuthFlows:                  &awscognito.AuthFlow{UserSrp: jsii.Bool(true)}, // the pages use it
		SupportedIdentityProviders: &[]awscognito.UserPoolClientIdentityProvider{awscognito.UserPoolClientIdentityProvider_COGNITO()},
		PreventUserExistenceErrors: jsii.Bool(true),
		RefreshTokenValidity:       awscdk.Duration_Hours(jsii.Number(12)), // as long as a session of the dashboard, which asks with it whether the user is still enabled
	})
	s.domain = awscognito.NewUserPoolDomain(s.stack, jsii.String("SignInDomain"), s.signInDomain())
	// Cognito shows no pages without a style.
	awscognito.NewCfnManagedLoginBranding(s.stack, jsii.String("SignInStyle"), &awscognito.CfnManagedLoginBrandingProps{
		UserPoolId:               s.users.UserPoolId(),
		ClientId:                 s.client.UserPoolClientId(),
		UseCognitoProvidedValues: true,
	})
}

// domainPrefix returns a prefix that is unique in the world, since it has the UUID of the stack's
// ARN.
func (s *service) domainPrefix() *string {
	const uuid = 2 // arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/UUID
	return jsii.String("lipsync-" + *awscdk.Fn_Select(jsii.Number(uuid), awscdk.Fn_Split(jsii.String("/"), s.stack.StackId(), nil)))
}

// readSecret allows to read the secret of sessions.
func (s *service) readSecret() awsiam.PolicyStatement {
	return allow([]string{"secretsmanager:GetSecretValue"}, s.secret.SecretArn())
}
