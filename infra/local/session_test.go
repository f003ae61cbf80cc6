package main

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"lipsync/internal/awstest"
	"lipsync/internal/dashboard"
	"lipsync/internal/dynamodb"
	"lipsync/internal/rest"
)

// TestSessionsEnd checks that a session ends after its time, and that a sign-out ends all sessions
// of the user.
func TestSessionsEnd(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	p := d.user(t)
	here := p.signIn(t)
	for _, c := range []struct {
		age  time.Duration
		want bool
	}{{11 * time.Hour, true}, {12*time.Hour + time.Minute, false}} {
		p.leave(t)
		p.browser.Jar.SetCookies(here.URL, d.session(t, c.age))
		if got := p.isIn(p.open(t, "")); got != c.want {
			t.Errorf("a session of %v: got in %t, want %t", c.age, got, c.want)
		}
	}
	p.leave(t)
	p.signIn(t)
	elsewhere := p.browser.Jar
	p.leave(t)
	if out := p.submit(t, p.signIn(t), "/sign-out", nil); out.Status != http.StatusOK || !strings.HasSuffix(out.URL.Path, "/dashboard/signed-out") {
		t.Errorf("got %d at %s, want the page of those who signed out", out.Status, out.URL)
	}
	p.browser.Jar = elsewhere
	if p.isIn(p.open(t, "")) {
		t.Error("a session in another browser outlived the end of all")
	}
}

// session makes the cookie of a session that began some time ago, with the deployed function's
// secret.
func (d *testDeployment) session(t *testing.T, age time.Duration) []*http.Cookie {
	t.Helper()
	told := d.variables(t, "DashboardPages")
	out, err := secretsmanager.NewFromConfig(d.config).GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{
		SecretId: aws.String(told["LIPSYNC_SECRET_ARN"]),
	})
	if err != nil {
		t.Fatal(err)
	}
	public, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	service := d.service()
	service.Now = func() time.Time { return time.Now().Add(-age) }
	pages, err := dashboard.New(service, dashboard.Options{
		Log: slog.New(slog.DiscardHandler), SignIn: anybody{}, Sessions: dynamodb.New(d.config, d.Outputs["TableName"]),
		Secret: sha256.Sum256([]byte(*out.SecretString)), PublicURL: public, Prefix: rest.Base, Document: rest.Document(),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, d.Outputs["DashboardUrl"]+"/sign-in", nil))
	return w.Result().Cookies()
}

// anybody is a sign-in that lets everybody in.
type anybody struct{}

func (anybody) Identify(http.ResponseWriter, *http.Request) (dashboard.Person, bool, error) {
	return dashboard.Person{Account: "somebody", Name: "somebody"}, false, nil
}

func (anybody) SignOutURL() *url.URL { return nil }

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
