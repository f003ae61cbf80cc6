package main

import (
	"crypto/sha256"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"lipsync/internal/awstest"
	"lipsync/internal/awstest/fakebatch"
	"lipsync/internal/dashboard"
	"lipsync/internal/dynamodb"
	"lipsync/internal/gateway"
	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
)

// TestSignInRefused comes back from Cognito in ways that are no sign-in. Each is said
// on the page, once, with a way to try again.
func TestSignInRefused(t *testing.T) {
	h := deployed(t, awstest.Enforcing(t))
	p := h.user(t)
	p.signIn(t)
	used := p.arrives
	for _, c := range []struct {
		name string
		back func(fresh url.Values) // changes a state that this browser began with
		want string
	}{
		{"code used again", func(v url.Values) { v.Set("code", used.Query().Get("code")) }, "This sign-in was used already, or is too old."},
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
			t.Errorf("%s: it signs in", c.name)
		}
	}
	other := h.stranger(t)
	if got := other.open(t, "/sign-in?"+used.RawQuery); got.Status != http.StatusForbidden {
		t.Errorf("in another browser: got %d, %s, want 403", got.Status, got.Body)
	}
}

// TestCookies wants each cookie to go no further than it has to.
func TestCookies(t *testing.T) {
	h := deployed(t, awstest.Enforcing(t))
	p := h.user(t)
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
			for _, cookie := range p.browser.Jar.Cookies(h.page(t, path)) {
				got = append(got, cookie.Name)
			}
			if strings.Join(got, " ") != c.want[path] {
				t.Errorf("%s: %s gets the cookies %q, want %q", c.name, h.page(t, path), got, c.want[path])
			}
		}
	}
}

// page is the address of a page of the dashboard.
func (h *testHome) page(t *testing.T, path string) *url.URL {
	t.Helper()
	u, err := url.Parse(h.Outputs["DashboardUrl"])
	if err != nil {
		t.Fatal(err)
	}
	return u.JoinPath(path)
}

// TestWrongPassword stays at Cognito's page.
func TestWrongPassword(t *testing.T) {
	p := deployed(t, awstest.Enforcing(t)).user(t)
	got := p.submit(t, p.open(t, ""), "/login", map[string]string{"username": p.email, "password": "Wrong-Horse-7"})
	if !strings.Contains(got.Body, "Incorrect username or password.") || p.isIn(p.open(t, "")) {
		t.Errorf("got %d, %s", got.Status, got.Body)
	}
}

// TestAccounts has two users, of whom neither finds what the other's is.
func TestAccounts(t *testing.T) {
	h := deployed(t, awstest.Enforcing(t))
	owner, other := h.user(t), h.user(t)
	h.Batch.SetFaults(fakebatch.Faults{NoSubmit: true}) // nothing begins
	defer h.Batch.SetFaults(fakebatch.Faults{})
	made := owner.submit(t, owner.signInTo(t, "/new"), "/dashboard/new", map[string]string{
		"video": "https://example.com/v.mp4", "audio": "https://example.com/a.wav", "model": "warp", "reference_id": "mine",
	})
	path, ok := strings.CutPrefix(made.URL.String(), h.Outputs["DashboardUrl"])
	if made.Status != http.StatusOK || !ok || !strings.HasPrefix(path, "/requests/") {
		t.Fatalf("got %d at %s, want the page of a request: %s", made.Status, made.URL, made.Body)
	}
	other.signIn(t)
	if got := other.open(t, path); got.Status != http.StatusNotFound {
		t.Errorf("another's request: got %d, want 404", got.Status)
	}
	if got := other.open(t, ""); strings.Contains(got.Body, "mine") {
		t.Errorf("another's list shows it: %s", got.Body)
	}
	if got := other.submit(t, other.open(t, "/new"), "/dashboard/new", map[string]string{"video": "ftp://x"}); got.Status != http.StatusBadRequest {
		t.Errorf("a bad form: got %d, want 400", got.Status)
	}
	for _, filter := range []string{"?status=queued", "?reference_id=mine", "?status=queued&reference_id=mine"} {
		if got := owner.open(t, filter); got.Status != http.StatusOK || !strings.Contains(got.Body, path) {
			t.Errorf("the owner's list with %s: got %d, %s", filter, got.Status, got.Body)
		}
	}
	if got := owner.open(t, "/usage"); got.Status != http.StatusOK {
		t.Errorf("usage: got %d", got.Status)
	}
	canceled := owner.submit(t, owner.open(t, path), "/cancel", nil)
	if canceled.Status != http.StatusOK || !strings.Contains(canceled.Body, lipsync.Canceled) {
		t.Errorf("cancel: got %d, %s", canceled.Status, canceled.Body)
	}
}

// TestSource watches the source of a request that came with its files by the API, by
// a key that the dashboard made, until it is canceled.
func TestSource(t *testing.T) {
	h := deployed(t, awstest.Enforcing(t))
	h.Batch.SetFaults(fakebatch.Faults{NoSubmit: true}) // nothing begins
	defer h.Batch.SetFaults(fakebatch.Faults{})
	p := h.user(t)
	keys := p.submit(t, p.signInTo(t, "/settings/keys"), "/settings/keys", map[string]string{"name": "program"})
	program := job{testHome: h, token: first(tokenOf, keys.Body)}
	path := "/requests/" + program.send(t, fixtures.speech)
	source := html.UnescapeString(first(sourceOf, p.open(t, path).Body))
	if got := p.do(t, http.MethodGet, source, nil); got.Status != http.StatusOK || got.Body != string(read(t, fixtures.video)) {
		t.Errorf("got %d and %d bytes, want the video that was sent", got.Status, len(got.Body))
	}
	canceled := p.submit(t, p.open(t, path), "/cancel", nil)
	if canceled.Status != http.StatusOK || !strings.Contains(canceled.Body, lipsync.Canceled) || sourceOf.MatchString(canceled.Body) {
		t.Errorf("canceled: got %d, %s, want no source", canceled.Status, canceled.Body)
	}
	if got := p.do(t, http.MethodGet, source, nil); got.Status != http.StatusNotFound {
		t.Errorf("the source of what was canceled: got %d, want 404", got.Status)
	}
}

var (
	tokenOf  = regexp.MustCompile(`id="token">([^<]*)<`)
	sourceOf = regexp.MustCompile(`<video src="([^"]*)"`)
)

// signInTo signs in and opens a page.
func (p *person) signInTo(t *testing.T, path string) visited {
	t.Helper()
	p.signIn(t)
	return p.open(t, path)
}

// TestSessionsEnd has one end after its time, and all end at once.
func TestSessionsEnd(t *testing.T) {
	h := deployed(t, awstest.Enforcing(t))
	p := h.user(t)
	here := p.signIn(t)
	for _, c := range []struct {
		age  time.Duration
		want bool
	}{{11 * time.Hour, true}, {12*time.Hour + time.Minute, false}} {
		p.leave(t)
		p.browser.Jar.SetCookies(here.URL, h.session(t, c.age))
		if got := p.isIn(p.open(t, "")); got != c.want {
			t.Errorf("a session of %v: got in %t, want %t", c.age, got, c.want)
		}
	}
	p.leave(t)
	p.signIn(t)
	elsewhere := p.browser.Jar
	p.leave(t)
	at := p.signInTo(t, "/settings/sessions")
	if out := p.submit(t, at, "/sign-out-everywhere", nil); out.Status != http.StatusOK || !strings.HasSuffix(out.URL.Path, "/dashboard/signed-out") {
		t.Errorf("got %d at %s, want the page of those who signed out", out.Status, out.URL)
	}
	p.browser.Jar = elsewhere
	if p.isIn(p.open(t, "")) {
		t.Error("a session elsewhere goes on after all were ended")
	}
}

// session makes the cookie of a session that began some time ago, with the secret
// that the deployed function has.
func (h *testHome) session(t *testing.T, age time.Duration) []*http.Cookie {
	t.Helper()
	told := h.variables(t, "Dashboard")
	out, err := secretsmanager.NewFromConfig(h.config).GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{
		SecretId: aws.String(told["LIPSYNC_SECRET_ARN"]),
	})
	if err != nil {
		t.Fatal(err)
	}
	public, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	service := h.service()
	service.Now = func() time.Time { return time.Now().Add(-age) }
	pages, err := dashboard.New(service, dashboard.Options{
		Log: slog.New(slog.DiscardHandler), SignIn: anybody{}, Sessions: dynamodb.New(h.config, h.Outputs["TableName"]),
		Secret: sha256.Sum256([]byte(*out.SecretString)), PublicURL: public, Prefix: gateway.Stage, Document: rest.Document(),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, h.Outputs["DashboardUrl"]+"/sign-in", nil))
	return w.Result().Cookies()
}

// anybody is a sign-in that lets everybody in.
type anybody struct{}

func (anybody) Identify(http.ResponseWriter, *http.Request) (dashboard.Person, bool, error) {
	return dashboard.Person{Account: "somebody", Name: "somebody"}, false, nil
}

func (anybody) SignOutURL() *url.URL { return nil }

// variables are what a function is told.
func (h *testHome) variables(t *testing.T, name string) map[string]string {
	t.Helper()
	out, err := lambda.NewFromConfig(h.config).GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{
		FunctionName: aws.String(h.function(t, name)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Environment.Variables
}

// TestSignUp has a stranger make themselves a user. The emulator lets them also where
// the user pool says that they may not, which is what AWS heeds.
func TestSignUp(t *testing.T) {
	h := deployed(t, awstest.Enforcing(t))
	pool, err := h.users().DescribeUserPool(t.Context(), &cognitoidentityprovider.DescribeUserPoolInput{
		UserPoolId: aws.String(h.Outputs["UserPoolId"]),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !pool.UserPool.AdminCreateUserConfig.AllowAdminCreateUserOnly {
		t.Error("strangers may make themselves users, which nobody asked for")
	}
	p, client := h.stranger(t), h.variables(t, "Dashboard")["LIPSYNC_CLIENT_ID"]
	signUp(t, h.users(), client, p.email)
	refused := p.submit(t, p.open(t, ""), "/login", map[string]string{"username": p.email, "password": password})
	if p.isIn(refused) || p.isIn(p.open(t, "")) {
		t.Error("somebody is in who did not show that the mail is theirs")
	}
	const code = "123456" // the emulator's
	if _, err := h.users().ConfirmSignUp(t.Context(), &cognitoidentityprovider.ConfirmSignUpInput{
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
			t.Fatalf("with the password %s: got %v, want it taken: %t", c.password, err, c.taken)
		}
	}
}
