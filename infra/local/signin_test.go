package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"lipsync/internal/test/awstest"
)

// TestSignInRefused comes back from Cognito in ways that must be refused. The page must say why,
// once, with a way to try again.
func TestSignInRefused(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	p := d.user(t)
	p.signIn(t)
	used := p.arrives
	for _, c := range []struct {
		name string
		back func(fresh url.Values) // changes the query of a valid return in this browser
		want string
	}{
		{"code of another sign-in", func(v url.Values) { v.Set("code", used.Query().Get("code")) }, "This sign-in was used already, or is too old."},
		{"code made up", func(v url.Values) { v.Set("code", "x") }, "This sign-in was used already, or is too old."},
		{"refused there", func(v url.Values) { v.Set("error", "access_denied") }, "The sign-in was not completed."},
		{"another state", func(v url.Values) { v.Set("code", "x"); v.Set("state", "x") }, "began in another tab or browser"},
		{"no state", func(v url.Values) { v.Set("code", "x"); v.Del("state") }, "began in another tab or browser"},
	} {
		p.leave(t)
		back := url.Values{"state": {p.open(t, "").URL.Query().Get("state")}}
		c.back(back)
		got := p.open(t, "/sign-in?"+back.Encode())
		if got.Status != http.StatusForbidden || !strings.Contains(got.Body, c.want) || !strings.Contains(got.Body, `href="/api/dashboard/sign-in"`) {
			t.Errorf("%s: got %d, %s, want 403, %s", c.name, got.Status, got.Body, c.want)
		}
		if got := p.open(t, ""); p.isIn(got) {
			t.Errorf("%s: the person is signed in", c.name)
		}
	}
	other := d.stranger(t)
	if got := other.open(t, "/sign-in?"+used.RawQuery); got.Status != http.StatusForbidden {
		t.Errorf("in another browser: got %d, %s, want 403", got.Status, got.Body)
	}
}

// TestCodeTwice comes back from Cognito a second time with the same code.
func TestCodeTwice(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	p := d.user(t)
	at := p.open(t, "")
	began := p.browser.Jar.Cookies(d.page(t, "/sign-in"))
	if at := p.submit(t, at, "/login", map[string]string{"username": p.email, "password": password}); !p.isIn(at) {
		t.Fatalf("got %d at %s, want the dashboard", at.Status, at.URL)
	}
	p.leave(t)
	p.browser.Jar.SetCookies(d.page(t, "/sign-in"), began)
	got := p.open(t, "/sign-in?"+p.arrives.RawQuery)
	if got.Status != http.StatusForbidden || !strings.Contains(got.Body, "This sign-in was used already, or is too old.") || p.isIn(p.open(t, "")) {
		t.Errorf("got %d, %s, want 403", got.Status, got.Body)
	}
}

// TestCookies checks that each cookie is sent only where it is needed.
func TestCookies(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	p := d.user(t)
	for _, c := range []struct {
		name string
		do   func()
		want map[string]string // paths to the names of cookies
	}{
		{"on the way to Cognito", func() { p.open(t, "") }, map[string]string{"/sign-in": "lipsync_sign_in"}},
		{"signed in", func() { p.signIn(t) }, map[string]string{"": "lipsync_session", "/sign-in": "lipsync_session"}},
	} {
		c.do()
		for _, path := range []string{"/sign-in", "", "/../v1/users/me"} {
			var got []string
			for _, cookie := range p.browser.Jar.Cookies(d.page(t, path)) {
				got = append(got, strings.TrimSuffix(cookie.Name, "_"+d.page(t, "").Port())) // on one machine
			}
			if strings.Join(got, " ") != c.want[path] {
				t.Errorf("%s: %s gets the cookies %q, want %q", c.name, d.page(t, path), got, c.want[path])
			}
		}
	}
}

// page returns the address of a page of the dashboard.
func (d *testDeployment) page(t *testing.T, path string) *url.URL {
	t.Helper()
	u, err := url.Parse(d.Outputs["DashboardUrl"])
	if err != nil {
		t.Fatal(err)
	}
	return u.JoinPath(path)
}

// TestWrongPassword enters a wrong password, which must not lead back from Cognito's page.
func TestWrongPassword(t *testing.T) {
	p := deployed(t, awstest.Enforcing(t)).user(t)
	got := p.submit(t, p.open(t, ""), "/login", map[string]string{"username": p.email, "password": "Wrong-Horse-7"})
	if !strings.Contains(got.Body, "Incorrect username or password.") || p.isIn(p.open(t, "")) {
		t.Errorf("got %d, %s", got.Status, got.Body)
	}
}

// TestSignUp signs a stranger up. The emulator allows that even if the user pool forbids it; AWS
// obeys the pool.
func TestSignUp(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	pool, err := d.users().DescribeUserPool(t.Context(), &cognitoidentityprovider.DescribeUserPoolInput{
		UserPoolId: aws.String(d.Outputs["UserPoolId"]),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !pool.UserPool.AdminCreateUserConfig.AllowAdminCreateUserOnly {
		t.Error("the user pool lets strangers sign up, want it forbidden by default")
	}
	p, client := d.stranger(t), d.variables(t, "DashboardPages")["LIPSYNC_CLIENT_ID"]
	signUp(t, d.users(), client, p.email)
	refused := p.submit(t, p.open(t, ""), "/login", map[string]string{"username": p.email, "password": password})
	if p.isIn(refused) || p.isIn(p.open(t, "")) {
		t.Error("a person is signed in without proof of the mail address")
	}
	const code = "123456" // the emulator's
	if _, err := d.users().ConfirmSignUp(t.Context(), &cognitoidentityprovider.ConfirmSignUpInput{
		ClientId: &client, Username: &p.email, ConfirmationCode: aws.String(code),
	}); err != nil {
		t.Fatal(err)
	}
	p.signIn(t)
}

func signUp(t *testing.T, users *cognitoidentityprovider.Client, client, email string) {
	t.Helper()
	for _, c := range []struct {
		password string
		taken    bool
	}{{"short-Aa1", false}, {"all-small-letters-1", false}, {password, true}} {
		_, err := users.SignUp(t.Context(), &cognitoidentityprovider.SignUpInput{
			ClientId: &client, Username: &email, Password: aws.String(c.password),
			UserAttributes: []types.AttributeType{{Name: aws.String("email"), Value: &email}},
		})
		if (err == nil) != c.taken {
			t.Fatalf("with the password %s: got %v, want it accepted: %t", c.password, err, c.taken)
		}
	}
}
