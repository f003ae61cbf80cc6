package main

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"lipsync/internal/http/signin"
	"lipsync/internal/test/awstest"
)

// TestSessionsEnd checks that a session ends after its time, that a sign-out ends the session of its browser, and that a sign-out everywhere
// ends all sessions of the user.
func TestSessionsEnd(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	p := d.user(t)
	here := p.signIn(t)
	began := p.browser.Jar.Cookies(here.URL)
	for _, c := range []struct {
		age  time.Duration
		want bool
	}{{11 * time.Hour, true}, {12*time.Hour + time.Minute, false}} {
		p.leave(t)
		p.browser.Jar.SetCookies(here.URL, d.older(t, began, c.age))
		if got := p.isIn(p.open(t, "")); got != c.want {
			t.Errorf("a session of %v: got in %t, want %t", c.age, got, c.want)
		}
	}
	p.leave(t)
	p.signIn(t)
	elsewhere := p.browser.Jar
	p.leave(t)
	if p.submit(t, p.signIn(t), "/sign-out", nil); p.isIn(p.open(t, "")) {
		t.Error("the session outlived its sign-out")
	}
	p.browser.Jar = elsewhere
	if !p.isIn(p.open(t, "")) {
		t.Error("a session in another browser ended with this one")
	}
	p.leave(t)
	if out := p.submit(t, p.signIn(t), "/sign-out", map[string]string{"everywhere": "1"}); out.Status != http.StatusOK || !strings.HasSuffix(out.URL.Path, "/dashboard/signed-out") {
		t.Errorf("got %d at %s, want the page of those who signed out", out.Status, out.URL)
	}
	p.browser.Jar = elsewhere
	if p.isIn(p.open(t, "")) {
		t.Error("a session in another browser outlived the end of all")
	}
}

// TestDisabledUser disables a user in Cognito. Their session ends within 5 minutes.
func TestDisabledUser(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	p := d.user(t)
	here := p.signIn(t)
	began := p.browser.Jar.Cookies(here.URL)
	open := func(age time.Duration) bool {
		p.leave(t)
		p.browser.Jar.SetCookies(here.URL, d.older(t, began, age))
		return p.isIn(p.open(t, ""))
	}
	if !open(5 * time.Minute) {
		t.Fatal("the session of an enabled user ended")
	}
	if _, err := d.users().AdminDisableUser(t.Context(), &cognitoidentityprovider.AdminDisableUserInput{
		UserPoolId: aws.String(d.Outputs["UserPoolId"]), Username: &p.email,
	}); err != nil {
		t.Fatal(err)
	}
	if open(5 * time.Minute) {
		t.Error("the session outlived 5 minutes after its user was disabled")
	}
}

// older returns the cookies of a session as if the session had begun earlier by the time age. It opens
// the session's cookie with the deployed function's secret.
func (d *testDeployment) older(t *testing.T, cookies []*http.Cookie, age time.Duration) []*http.Cookie {
	t.Helper()
	out, err := secretsmanager.NewFromConfig(d.config).GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{
		SecretId: aws.String(d.variables(t, "DashboardPages")["LIPSYNC_SECRET_ARN"]),
	})
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := signin.NewSealer(sha256.Sum256([]byte(*out.SecretString)), "lipsync_session")
	if err != nil {
		t.Fatal(err)
	}
	var changed []*http.Cookie
	for _, c := range cookies {
		var session map[string]any
		if err := sealer.Open(c.Value, &session); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Ends", "Confirmed"} {
			at, err := time.Parse(time.RFC3339Nano, session[name].(string))
			if err != nil {
				t.Fatal(err)
			}
			session[name] = at.Add(-age)
		}
		value, err := sealer.Seal(session)
		if err != nil {
			t.Fatal(err)
		}
		changed = append(changed, &http.Cookie{Name: c.Name, Value: value, Path: "/"})
	}
	return changed
}

// variables returns the environment of a function.
func (d *testDeployment) variables(t *testing.T, name string) map[string]string {
	t.Helper()
	out, err := lambda.NewFromConfig(d.config).GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{
		FunctionName: aws.String(d.function(t, name)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Environment.Variables
}
