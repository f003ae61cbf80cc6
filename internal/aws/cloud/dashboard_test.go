package cloud_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/aws/cloud/pages"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/http/rest"
)

const (
	publicURL = "https://lipsync.example.com"
	user      = "a@example.com"
	password  = "Correct-Horse-7"
)

// browser calls the function of the dashboard, and keeps its cookies as a browser does.
type browser struct {
	*deployment
	handle  func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	cookies map[string]string
}

// browse wires the dashboard with a pool of one user, and returns a browser for it.
func (d *deployment) browse(t *testing.T) *browser {
	t.Helper()
	client := secretsmanager.NewFromConfig(d.Config())
	secret, err := client.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{
		Name: aws.String("secret-" + d.environment["LIPSYNC_TABLE"]), SecretString: aws.String(strings.Repeat("s", 64)),
	})
	if err != nil {
		t.Fatal(err)
	}
	pool, clientID := d.users(t)
	for name, value := range map[string]string{
		"LIPSYNC_ISSUER": "https://cognito-idp.us-east-1.amazonaws.com/" + pool, "LIPSYNC_CLIENT_ID": clientID,
		"LIPSYNC_SIGN_OUT_URL": d.URL + "/logout", "LIPSYNC_SECRET_ARN": *secret.ARN, "LIPSYNC_PUBLIC_URL": publicURL,
	} {
		d.environment[name] = value
	}
	program := d.open(t, cloud.Records, media.Signed, messages.Queue, cloud.Generating, cloud.Reading, cloud.Sizes, cloud.Limits)
	handler, err := pages.New(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{d, gateway.Handler(rest.Base, handler), map[string]string{}}
}

// users makes a pool with one user and the dashboard's client.
func (d *deployment) users(t *testing.T) (pool, client string) {
	t.Helper()
	var made struct {
		UserPool       struct{ ID string }
		UserPoolClient struct{ ClientID string }
	}
	d.cognito(t, "CreateUserPool", map[string]any{"PoolName": "users"}, &made)
	pool = made.UserPool.ID
	d.cognito(t, "CreateUserPoolClient", map[string]any{
		"UserPoolId": pool, "ClientName": "dashboard", "AllowedOAuthFlowsUserPoolClient": true,
		"AllowedOAuthFlows": []string{"code"}, "AllowedOAuthScopes": []string{"openid", "email"},
		"CallbackURLs": []string{publicURL + "/api/dashboard/sign-in"}, "LogoutURLs": []string{publicURL + "/api/dashboard/signed-out"},
	}, &made)
	d.cognito(t, "AdminCreateUser", map[string]any{
		"UserPoolId": pool, "Username": user, "UserAttributes": []map[string]string{{"Name": "email", "Value": user}},
	}, &made)
	d.cognito(t, "AdminSetUserPassword", map[string]any{"UserPoolId": pool, "Username": user, "Password": password, "Permanent": true}, &made)
	return pool, made.UserPoolClient.ClientID
}

// cognito calls the emulator's Cognito.
func (d *deployment) cognito(t *testing.T, operation string, in, out any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "AWSCognitoIdentityProviderService."+operation)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(out); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s (%v)", operation, response.Status, err)
	}
}

// page is an answer of the function.
type page struct {
	events.APIGatewayProxyResponse
	t *testing.T
}

// call opens a page or sends a form, by an event of API Gateway.
func (b *browser) call(t *testing.T, method, address string, form url.Values) page {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	e := events.APIGatewayProxyRequest{
		HTTPMethod: method, Resource: "/dashboard/{proxy+}", Path: strings.TrimPrefix(u.Path, "/api"),
		MultiValueQueryStringParameters: u.Query(), MultiValueHeaders: map[string][]string{},
		Body: base64.StdEncoding.EncodeToString([]byte(form.Encode())), IsBase64Encoded: true,
	}
	e.RequestContext.DomainName = "a1b2c3.execute-api.us-east-1.amazonaws.com"
	if e.Path == "/dashboard" {
		e.Resource = e.Path
	}
	if form != nil {
		e.MultiValueHeaders["Content-Type"] = []string{"application/x-www-form-urlencoded"}
	}
	for name, value := range b.cookies {
		e.MultiValueHeaders["Cookie"] = append(e.MultiValueHeaders["Cookie"], name+"="+value)
	}
	answer, err := b.handle(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return b.take(t, answer)
}

// take keeps the cookies of an answer.
func (b *browser) take(t *testing.T, answer events.APIGatewayProxyResponse) page {
	for _, c := range (&http.Response{Header: answer.MultiValueHeaders}).Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return page{answer, t}
}

func (p page) location() string { return http.Header(p.MultiValueHeaders).Get("Location") }

func (p page) mustLead(address string) {
	p.t.Helper()
	if p.StatusCode != http.StatusSeeOther || p.location() != address {
		p.t.Errorf("got %d to %q, want it to lead to %s", p.StatusCode, p.location(), address)
	}
}

func (p page) must(status int, texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if p.StatusCode != status || p.IsBase64Encoded || !strings.Contains(p.Body, text) {
			p.t.Fatalf("got %d, want %d and %q in\n%s", p.StatusCode, status, text, p.Body)
		}
	}
}

// logIn sends the form of the emulator's sign-in page, and returns the URL that its answer redirects
// to.
func logIn(t *testing.T, authorize string) string {
	t.Helper()
	u, err := url.Parse(authorize)
	if err != nil {
		t.Fatal(err)
	}
	form := u.Query()
	form.Set("username", user)
	form.Set("password", password)
	u.Path, u.RawQuery = "/login", ""
	return leads(t, http.MethodPost, u.String(), form)
}

// leads makes a call, and returns the URL that its answer redirects to.
func leads(t *testing.T, method, address string, form url.Values) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusFound {
		t.Fatalf("got %s %s (%v), want a redirect", response.Status, body, err)
	}
	return response.Header.Get("Location")
}

// TestDashboard signs in at the emulator's Cognito, makes a key, and signs out.
func TestDashboard(t *testing.T) {
	b := deploy(t).browse(t)
	b.call(t, "GET", "/api/dashboard", nil).mustLead("/api/dashboard/sign-in")
	answer, err := invoke(t, "dashboard", b.handle)
	var began events.APIGatewayProxyResponse
	if err := errors.Join(err, json.Unmarshal(answer, &began)); err != nil {
		t.Fatal(err)
	}
	back := logIn(t, b.take(t, began).location())
	if !strings.HasPrefix(back, publicURL+"/api/dashboard/sign-in?code=") {
		t.Fatalf("got back to %s", back)
	}
	attempt := b.cookies["lipsync_sign_in"]
	in := b.call(t, "GET", back, nil)
	in.mustLead("/api/dashboard")
	if got := in.MultiValueHeaders["Set-Cookie"]; len(got) != 2 || len(b.cookies) != 1 {
		t.Errorf("got cookies %q, want one dropped and one set", got)
	}
	first := b.call(t, "GET", "/api/dashboard", nil)
	first.must(http.StatusOK, "No requests yet")
	if policy := first.MultiValueHeaders["Content-Security-Policy"][0]; !strings.Contains(policy, "connect-src 'self' "+b.URL+";") {
		t.Errorf("got policy %s, want the bucket's host in it", policy)
	}
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(first.Body)[1]
	made := b.call(t, "POST", "/api/dashboard/settings/keys", url.Values{"csrf": {csrf}, "name": {"für mich"}})
	made.must(http.StatusOK, "Your new key", "für mich", publicURL+"/api/v1/users/me")
	token := regexp.MustCompile(`lipsync_[\w-]{43}`).FindString(made.Body)
	if c, err := b.service.Authenticate(t.Context(), token); err != nil || c.KeyName != "für mich" || c.Account == "account" {
		t.Errorf("got %+v, %v", c, err)
	}
	b.call(t, "POST", "/api/dashboard/uploads", url.Values{"csrf": {csrf}, "type": {"video"}, "size": {"5"}}).must(http.StatusOK, `"address":"`+b.URL)
	b.cookies = map[string]string{"lipsync_sign_in": attempt} // no browser still has this cookie
	b.call(t, "GET", back, nil).must(http.StatusForbidden, "This sign-in was used already", "Try again")
	for _, secret := range []string{token, strings.TrimPrefix(back, publicURL), csrf} {
		if strings.Contains(b.log.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// TestSignOut signs out, and then uses a copy of the session's cookie. The session must have ended.
func TestSignOut(t *testing.T) {
	b := deploy(t).browse(t)
	b.call(t, "GET", logIn(t, b.call(t, "GET", "/api/dashboard/sign-in", nil).location()), nil).mustLead("/api/dashboard")
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(b.call(t, "GET", "/api/dashboard", nil).Body)[1]
	kept := b.cookies["__Secure-lipsync_session"]
	out := b.call(t, "POST", "/api/dashboard/sign-out", url.Values{"csrf": {csrf}, "everywhere": {"on"}})
	if got := leads(t, http.MethodGet, out.location(), nil); got != publicURL+"/api/dashboard/signed-out" || len(b.cookies) != 0 {
		t.Errorf("got from %s to %s, with cookies %v", out.location(), got, b.cookies)
	}
	b.call(t, "GET", publicURL+"/api/dashboard/signed-out", nil).must(http.StatusOK, "Your session has ended")
	b.cookies["__Secure-lipsync_session"] = kept
	b.call(t, "GET", "/api/dashboard", nil).mustLead("/api/dashboard/sign-in")
}

// TestDashboardSettings leaves out each variable in turn, and then has a secret that is too short.
func TestDashboardSettings(t *testing.T) {
	d := deploy(t).browse(t).deployment
	parts := []cloud.Part{cloud.Records, media.Signed}
	for _, name := range []string{"LIPSYNC_ISSUER", "LIPSYNC_CLIENT_ID", "LIPSYNC_SIGN_OUT_URL", "LIPSYNC_SECRET_ARN", "LIPSYNC_PUBLIC_URL"} {
		kept := d.environment[name]
		d.environment[name] = ""
		_, err := pages.New(t.Context(), d.open(t, parts...))
		if want := name + " is not set"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		d.environment[name] = kept
	}
	_, err := secretsmanager.NewFromConfig(d.Config()).PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(d.environment["LIPSYNC_SECRET_ARN"]), SecretString: aws.String("secret"),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = pages.New(t.Context(), d.open(t, parts...))
	if want := "the dashboard's secret has 6 characters, want 32 or more"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
