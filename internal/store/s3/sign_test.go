package s3_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"lipsync/internal/domain/failure"
	"lipsync/internal/store/s3"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

// tokens is a fake STS whose session tokens contain their end: an hour from the whole second for a
// role that assumes another, and 12 hours for an identity of Cognito.
type tokens struct {
	mu      sync.Mutex
	calls   int
	cognito int    // number of calls of Cognito
	refuses string // actions that fail
}

const assumed = `<%[2]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[2]sResult><Credentials>
<AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
<SessionToken>%[1]s</SessionToken><Expiration>%[1]s</Expiration>
</Credentials></%[2]sResult></%[2]sResponse>`

func (s *tokens) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	call := r.Header.Get("X-Amz-Target") + form.Get("Action") + form.Get("DurationSeconds")
	s.mu.Lock()
	s.calls++
	if strings.Contains(call, "GetOpenIdToken") {
		s.cognito++
	}
	s.mu.Unlock()
	time.Sleep(20 * time.Millisecond) // on the test's clock, the duration of an answer
	w := httptest.NewRecorder()
	ends := func(life time.Duration) string {
		return time.Now().UTC().Truncate(time.Second).Add(life).Format(time.RFC3339)
	}
	switch {
	case s.refuses != "" && strings.Contains(call, s.refuses):
		w.WriteHeader(http.StatusForbidden)
	case call == "AssumeRole3600":
		fmt.Fprintf(w, assumed, ends(time.Hour), "AssumeRole")
	case call == "AWSCognitoIdentityService.GetOpenIdTokenForDeveloperIdentity" && string(body) == `{"IdentityPoolId":"pool","Logins":{"lipsync":"signer"}}`:
		fmt.Fprint(w, `{"IdentityId":"it","Token":"vouched"}`)
	case call == "AssumeRoleWithWebIdentity43200" && form.Get("WebIdentityToken") == "vouched":
		fmt.Fprintf(w, assumed, ends(12*time.Hour), "AssumeRoleWithWebIdentity")
	default:
		return nil, fmt.Errorf("unexpected call: %s %s", r.URL, body)
	}
	return w.Result(), nil
}

func (s *tokens) config() aws.Config {
	return aws.Config{
		Region: "us-east-1", HTTPClient: s,
		Credentials:                credentials.NewStaticCredentialsProvider("own", "secret", "token"),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported, // the default of package config
	}
}

const role = "arn:aws:iam::123456789012:role/signer"

// end returns the time at which a URL stops working: at its own end, or with the session that signed
// it.
func end(t *testing.T, u *url.URL) time.Time {
	t.Helper()
	query := u.Query()
	signed, err := time.Parse("20060102T150405Z", query.Get("X-Amz-Date"))
	check.Must(t, err)
	life, err := time.ParseDuration(query.Get("X-Amz-Expires") + "s")
	check.Must(t, err)
	session, err := time.Parse(time.RFC3339, query.Get("X-Amz-Security-Token"))
	check.Must(t, err)
	return slices.MinFunc([]time.Time{signed.Add(life), session}, time.Time.Compare)
}

// TestURLHoldsItsHour signs URLs from time to time in one process that runs for weeks. Each must be
// valid for its hour.
func TestURLHoldsItsHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sts := &tokens{}
		o := s3.New(sts.config(), "bucket", s3.Signer{Role: role})
		for _, wait := range []time.Duration{
			0, time.Millisecond, 999 * time.Millisecond, time.Second, 1999 * time.Millisecond, 2 * time.Second,
			10 * time.Minute, 59*time.Minute + 59*time.Second, time.Hour, 12 * time.Hour, 20 * 24 * time.Hour,
		} {
			time.Sleep(wait)
			u, err := o.SignGet(t.Context(), "outputs/a.mp4", "a.mp4", time.Now().Add(2*time.Hour))
			check.Must(t, err)
			if life := time.Until(end(t, u)); life < time.Hour-2*time.Second {
				t.Errorf("after %v: got a URL for %v, want an hour less 2 s", wait, life)
			}
		}
	})
}

// TestLongSessions signs for a day with sessions of Cognito, and with short ones while Cognito
// fails.
func TestLongSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sts := &tokens{}
		o := s3.New(sts.config(), "bucket", s3.Signer{Role: role, Pool: "pool"})
		for range 24 * 60 {
			u, err := o.SignGet(t.Context(), "outputs/a.mp4", "a.mp4", time.Now().Add(2*time.Hour))
			check.Must(t, err)
			if life := time.Until(end(t, u)); life < 2*time.Hour-time.Second {
				t.Fatalf("got a URL for %v, want the 2 h that were asked for", life)
			}
			time.Sleep(time.Minute)
		}
		if sts.calls != 6 {
			t.Errorf("got %d calls in a day, want 3 of Cognito and 3 of STS", sts.calls)
		}
		for _, refused := range []string{"GetOpenIdToken", "WebIdentity"} {
			sts.refuses = refused
			u, err := s3.New(sts.config(), "bucket", s3.Signer{Role: role, Pool: "pool"}).
				SignGet(t.Context(), "outputs/a.mp4", "a.mp4", time.Now().Add(2*time.Hour))
			check.Must(t, err)
			if life := time.Until(end(t, u)); life < time.Hour-2*time.Second {
				t.Errorf("%s is refused: got a URL for %v, want an hour less 2 s", refused, life)
			}
		}
		sts.refuses = "e" // all actions
		if _, err := s3.New(sts.config(), "bucket", s3.Signer{Role: role, Pool: "pool"}).
			SignGet(t.Context(), "outputs/a.mp4", "a.mp4", time.Now().Add(2*time.Hour)); err == nil {
			t.Error("a URL was signed without credentials")
		}
	})
}

// TestCognitoFails signs a URL each second while Cognito is slow and refuses. Only one URL a
// minute may wait for it. Once Cognito works again, URLs must be long-lived again within a minute.
func TestCognitoFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sts := &tokens{refuses: "GetOpenIdToken"}
		o := s3.New(sts.config(), "bucket", s3.Signer{Role: role, Pool: "pool"})
		sign := func() time.Duration {
			t.Helper()
			u, err := o.SignGet(t.Context(), "outputs/a.mp4", "a.mp4", time.Now().Add(2*time.Hour))
			check.Must(t, err)
			return time.Until(end(t, u))
		}
		waited := 0
		for range 180 {
			start, calls := time.Now(), sts.cognito
			if life := sign(); life < time.Hour-2*time.Second {
				t.Errorf("got a URL for %v, want an hour less 2 s", life)
			}
			if sts.cognito > calls {
				waited++
			}
			time.Sleep(time.Second - time.Since(start)%time.Second)
		}
		if waited < 2 || waited > 4 {
			t.Errorf("%d of 180 URLs waited for Cognito, want one a minute", waited)
		}
		sts.refuses = ""
		time.Sleep(time.Minute)
		if life := sign(); life < 2*time.Hour-time.Second {
			t.Errorf("with Cognito back: got a URL for %v, want the 2 h that were asked for", life)
		}
	})
}

func TestListNeedsOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sts := &tokens{}
		o := s3.New(sts.config(), "bucket", s3.Signer{Role: role})
		for calls := range 3 {
			for range 100 {
				_, err := o.SignGet(t.Context(), "outputs/a.mp4", "a.mp4", time.Now().Add(time.Hour))
				check.Must(t, err)
			}
			if sts.calls != calls+1 {
				t.Errorf("got %d calls of STS, want %d", sts.calls, calls+1)
			}
			time.Sleep(time.Minute)
		}
	})
}

// TestOrigin compares the origin with signed URLs, on AWS and on an emulator.
func TestOrigin(t *testing.T) {
	for endpoint, want := range map[string]string{
		"": "https://bucket.s3.us-east-1.amazonaws.com", "http://127.0.0.1:4566": "http://127.0.0.1:4566",
	} {
		cfg := (&tokens{}).config()
		if endpoint != "" {
			cfg.BaseEndpoint = &endpoint
		}
		o := s3.New(cfg, "bucket", s3.Signer{})
		u, _, err := o.SignPut(t.Context(), "uploads/a", 5, "", time.Now().Add(time.Hour))
		check.Must(t, err)
		got, err := o.Origin(t.Context())
		check.Must(t, err)
		if signed := u.Scheme + "://" + u.Host; got.String() != want || signed != want {
			t.Errorf("got %s, signed %s, want %s", got, signed, want)
		}
	}
}

func TestOwnCredentialsSign(t *testing.T) {
	sts := &tokens{}
	u, err := s3.New(sts.config(), "bucket", s3.Signer{}).SignGet(t.Context(), "outputs/a.mp4", "a.mp4", time.Now().Add(time.Hour))
	check.Must(t, err)
	if got := u.Query().Get("X-Amz-Security-Token"); got != "token" || sts.calls != 0 {
		t.Errorf("got token %q after %d calls of STS, want the configuration's own and no call", got, sts.calls)
	}
}

// TestSignedUntil signs at various fractions of a second.
func TestSignedUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := s3.New((&tokens{}).config(), "bucket", s3.Signer{})
		time.Sleep(300 * time.Millisecond)
		for _, c := range []struct {
			until time.Duration
			want  string
		}{
			{time.Hour, "3601"}, {700 * time.Millisecond, "1"}, {1700 * time.Millisecond, "2"},
			{0, "1"}, {-300 * time.Millisecond, "1"}, {-time.Hour, "1"},
		} {
			u, err := o.SignGet(t.Context(), "a", "a", time.Now().Add(c.until))
			check.Must(t, err)
			if got := u.Query().Get("X-Amz-Expires"); got != c.want {
				t.Errorf("until %v from now: got %s s, want %s", c.until, got, c.want)
			}
		}
	})
}

// TestWhatIsSigned reads from the URLs the names of the headers that a client can't change. S3
// enforces them.
func TestWhatIsSigned(t *testing.T) {
	o := s3.New((&tokens{}).config(), "bucket", s3.Signer{})
	for contentType, want := range map[string]string{
		"audio/wav": "content-length;content-type;host",
		"":          "content-length;host",
	} {
		u, headers, err := o.SignPut(t.Context(), "uploads/u", 5, contentType, time.Now().Add(time.Hour))
		check.Must(t, err)
		if got := u.Query().Get("X-Amz-SignedHeaders"); got != want {
			t.Errorf("type %q: got %s signed, want %s", contentType, got, want)
		}
		if got := headers.Get("Content-Type"); got != contentType {
			t.Errorf("got header %q, want %q", got, contentType)
		}
		if strings.Contains(strings.ToLower(u.RawQuery), "checksum") {
			t.Errorf("%s demands a checksum that is not known yet", u)
		}
	}
	if _, _, err := o.SignPut(t.Context(), "uploads/u", 0, "", time.Now().Add(time.Hour)); err == nil {
		t.Error("a put of any size was signed")
	}
}

// signerStack creates the role that signs, with the rights of the deployed one.
const signerStack = `{"Resources": {"Signer": {"Type": "AWS::IAM::Role", "Properties": {
  "RoleName": "signer",
  "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"AWS": {"Ref": "AWS::AccountId"}}, "Action": "sts:AssumeRole"}]},
  "Policies": [{"PolicyName": "media", "PolicyDocument": {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::*/outputs/*"},
    {"Effect": "Allow", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::*/uploads/*"}]}}]}}},
  "Outputs": {"Role": {"Value": {"Fn::GetAtt": ["Signer", "Arn"]}}}}`

func makeSigner(t *testing.T, cfg aws.Config) (roleARN string) {
	t.Helper()
	client := cloudformation.NewFromConfig(cfg)
	_, err := client.CreateStack(t.Context(), &cloudformation.CreateStackInput{
		StackName: aws.String("signer"), TemplateBody: aws.String(signerStack),
		Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
	})
	check.Must(t, err)
	out, err := cloudformation.NewStackCreateCompleteWaiter(client).WaitForOutput(t.Context(),
		&cloudformation.DescribeStacksInput{StackName: aws.String("signer")}, time.Minute)
	check.Must(t, err)
	return *out.Stacks[0].Outputs[0].OutputValue
}

// TestSignerRole uses URLs signed by a role that has only the rights it needs.
func TestSignerRole(t *testing.T) {
	e := awstest.Enforcing(t)
	role, bucket := makeSigner(t, e.Config()), e.Bucket(t)
	o := s3.New(e.Config(), bucket, s3.Signer{Role: role})
	until := time.Now().Add(time.Hour)
	for key, want := range map[string]int{"outputs/a.mp4": 200, "inputs/a/video": 403, "uploads/a": 403} {
		check.Must(t, o.Put(t.Context(), key, strings.NewReader("video"), 5))
		u, err := o.SignGet(t.Context(), key, "a.mp4", until)
		check.Must(t, err)
		response := send(t, http.MethodGet, u, "")
		if response.StatusCode != want {
			t.Errorf("get %s: got %s, want %d", key, response.Status, want)
		}
		if got := response.Header.Get("Content-Type"); want == 200 && got != "video/mp4" {
			t.Errorf("got type %q", got)
		}
	}
	for key, want := range map[string]int{"uploads/b": 200, "outputs/b.mp4": 403} {
		u, _, err := o.SignPut(t.Context(), key, 5, "", until)
		check.Must(t, err)
		if response := send(t, http.MethodPut, u, "video"); response.StatusCode != want {
			t.Errorf("put %s: got %s, want %d", key, response.Status, want)
		}
	}
	// Its sessions may not list the bucket. S3 refuses a missing object then as one that they have no right to; the emulator says that it is missing.
	session := e.Config()
	session.Credentials = stscreds.NewAssumeRoleProvider(sts.NewFromConfig(e.Config()), role)
	for _, unlisted := range []bool{true, false} {
		o := s3.New(session, bucket, s3.Signer{})
		o.Unlisted = unlisted
		_, _, open := o.Open(t.Context(), "inputs/a/video")
		_, size := o.Size(t.Context(), "inputs/a/video")
		for _, err := range []error{open, size} {
			if (failure.CodeOf(err) == failure.NotFound) != unlisted || err == nil {
				t.Errorf("a forbidden object, unlisted %t: got %v", unlisted, err)
			}
		}
		if _, err := o.Size(t.Context(), "outputs/a.mp4"); err != nil {
			t.Error(err)
		}
	}
}

func send(t *testing.T, method string, u *url.URL, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, u.String(), strings.NewReader(body))
	check.Must(t, err)
	response, err := http.DefaultClient.Do(r)
	check.Must(t, err)
	response.Body.Close()
	return response
}
