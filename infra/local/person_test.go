package main

import (
	"crypto/rand"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
)

// password is one that the user pool accepts.
const password = "Correct-Horse-7"

// person is a user with a browser of their own that runs no scripts.
type person struct {
	h       *testDeployment
	email   string
	browser *http.Client
	arrives *url.URL // the URL by which they last came back from Cognito
}

// user invites a person, who has set their own password and is not signed in.
func (d *testDeployment) user(t *testing.T) *person {
	t.Helper()
	p := d.stranger(t)
	if err := d.invite(t.Context(), p.email, password); err != nil {
		t.Fatal(err)
	}
	_, err := d.users().AdminSetUserPassword(t.Context(), &cognitoidentityprovider.AdminSetUserPasswordInput{
		UserPoolId: aws.String(d.Outputs["UserPoolId"]), Username: &p.email, Password: aws.String(password), Permanent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stranger returns a person who is not a user yet.
func (d *testDeployment) stranger(t *testing.T) *person {
	t.Helper()
	p := &person{h: d, email: strings.ToLower(rand.Text()) + "@example.com", browser: new(http.Client)}
	p.leave(t)
	p.browser.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Query().Has("state") && strings.HasSuffix(r.URL.Path, "/dashboard/sign-in") {
			p.arrives = r.URL
		}
		if len(via) > 10 {
			return errors.New("the pages redirect in a circle")
		}
		return nil
	}
	return p
}

// leave gives the person a new browser without cookies.
func (p *person) leave(t *testing.T) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.browser.Jar = jar
}

// visited is a page that a person sees.
type visited struct {
	Status int
	URL    *url.URL
	Body   string
}

// open loads a page of the dashboard, and follows redirects.
func (p *person) open(t *testing.T, path string) visited {
	t.Helper()
	return p.do(t, http.MethodGet, p.h.Outputs["DashboardUrl"]+path, nil)
}

func (p *person) do(t *testing.T, method, address string, form url.Values) visited {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := p.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return visited{response.StatusCode, response.Request.URL, string(body)}
}

var (
	formTag  = regexp.MustCompile(`(?s)<form[^>]* action="([^"]*)".*?</form>`)
	inputTag = regexp.MustCompile(`<input[^>]*type="hidden"[^>]*>`)
	nameOf   = regexp.MustCompile(` name="([^"]*)"`)
	valueOf  = regexp.MustCompile(` value="([^"]*)"`)
)

// submit sends the form of a page whose address ends with action, with the fields in addition to
// the hidden ones.
func (p *person) submit(t *testing.T, at visited, action string, fields map[string]string) visited {
	t.Helper()
	for _, form := range formTag.FindAllStringSubmatch(at.Body, -1) {
		if !strings.HasSuffix(form[1], action) {
			continue
		}
		values := url.Values{}
		for _, input := range inputTag.FindAllString(form[0], -1) {
			values.Set(first(nameOf, input), html.UnescapeString(first(valueOf, input)))
		}
		for name, value := range fields {
			values.Set(name, value)
		}
		address, err := at.URL.Parse(form[1])
		if err != nil {
			t.Fatal(err)
		}
		return p.do(t, http.MethodPost, address.String(), values)
	}
	t.Fatalf("%s has no form for %s: %s", at.URL, action, at.Body)
	return visited{}
}

// first returns the text that the first group of the pattern matches, or "".
func first(pattern *regexp.Regexp, text string) string {
	if found := pattern.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// signIn signs in, from the dashboard through Cognito and back.
func (p *person) signIn(t *testing.T) visited {
	t.Helper()
	at := p.submit(t, p.open(t, ""), "/login", map[string]string{"username": p.email, "password": password})
	if at.Status != http.StatusOK || !p.isIn(at) {
		t.Fatalf("got %d at %s, want the dashboard: %s", at.Status, at.URL, at.Body)
	}
	return at
}

// isIn reports whether a page is for people who are signed in.
func (p *person) isIn(at visited) bool {
	return strings.HasPrefix(at.URL.String(), p.h.URL) && strings.Contains(at.Body, "/dashboard/sign-out")
}
