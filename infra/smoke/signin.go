package smoke

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"
	"github.com/chromedp/chromedp"

	"lipsync/internal/test/browsertest"
)

// password is one that the user pool accepts.
const password = "Correct-Horse-7"

func signIn(t *testing.T, s *Stack) {
	users := cognitoidentityprovider.NewFromConfig(s.Config)
	pool, email := aws.String(s.Outputs["UserPoolId"]), strings.ToLower(rand.Text())+"@example.com"
	_, err := users.AdminCreateUser(t.Context(), &cognitoidentityprovider.AdminCreateUserInput{
		UserPoolId: pool, Username: &email, MessageAction: types.MessageActionTypeSuppress,
		UserAttributes: []types.AttributeType{
			{Name: aws.String("email"), Value: &email}, {Name: aws.String("email_verified"), Value: aws.String("true")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = users.AdminSetUserPassword(t.Context(), &cognitoidentityprovider.AdminSetUserPasswordInput{
		UserPoolId: pool, Username: &email, Password: aws.String(password), Permanent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := browsertest.New(t)
	b.Open(s.Outputs["DashboardUrl"])
	// Cognito asks for both on one page, or for the password on the next.
	const passwordField = `input[type=password]:not([tabindex="-1"])`
	b.Wait(`document.querySelector("input[name=username]")`)
	b.Do(chromedp.SendKeys("input[name=username]", email))
	if !browsertest.Eval[bool](b, `document.querySelector('`+passwordField+`') !== null`) {
		b.Do(chromedp.SendKeys("input[name=username]", "\n"))
		b.Wait(`document.querySelector('` + passwordField + `')`)
	}
	b.Do(chromedp.SendKeys(passwordField, password+"\n"))
	b.Wait(`document.querySelector("nav[aria-label=Pages]")`)
	b.SignOut()
}
