package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lipsync/infra/account"
	"lipsync/infra/stack"
)

func TestReadContext(t *testing.T) {
	got, err := readContext([]byte(`{"app":"x","context":{"lipsync:readRate":5,"lipsync:image":"cpu"}}`),
		[]string{"Lipsync", "-c", "lipsync:image=cuda", "--context", "lipsync:alarmEmail=a=b@example.com", "-c=lipsync:zones=2", "--context=lipsync:logDays=7", "-c"})
	want := map[string]any{
		"lipsync:readRate": 5.0, "lipsync:image": "cuda", "lipsync:alarmEmail": "a=b@example.com", "lipsync:zones": "2", "lipsync:logDays": "7",
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	if _, err := readContext([]byte("{"), nil); err == nil {
		t.Error("a broken cdk.json was read")
	}
}

func TestUnasked(t *testing.T) {
	deployed := map[string]string{"lipsync:image": "cuda", "lipsync:readRate": "5", "lipsync:gone": "x", "lipsync:logDays": "30"}
	now := map[string]string{"lipsync:image": "cpu", "lipsync:readRate": "600", "lipsync:logDays": "30", "lipsync:new": "1"}
	err := unasked(deployed, now, map[string]any{"lipsync:readRate": "600"})
	want := `lipsync:image is "cuda" in the deployed stack and would become "cpu".` + "\n" +
		"Say which is meant, in cdk.json under context or by -c. To keep what is deployed: -c lipsync:image=cuda"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := unasked(deployed, now, map[string]any{"lipsync:readRate": 600.0, "lipsync:image": "cpu"}); err != nil {
		t.Errorf("changes that were requested: %v", err)
	}
	if err := unasked(nil, now, nil); err != nil {
		t.Errorf("a stack without metadata: %v", err)
	}
}

// cloud answers as AWS does, by "service action". It records the calls that change something.
// Answers that begin with a status are errors.
type cloud struct {
	answers  map[string]string
	changes  []string
	triggers bool // see deployment
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	scope := strings.Split(r.Header.Get("Authorization"), "/")
	call := scope[3] + " " + form.Get("Action") + form.Get("AWSServiceName")
	switch scope[3] {
	case "servicequotas":
		_, code, _ := strings.Cut(string(body), `"QuotaCode":"`)
		call = "quota " + code[:10]
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetAWSDefaultServiceQuota") {
			call = "default " + call
		}
	case "events":
		call = "bus " + string(body)
	case "apigateway", "lambda":
		call = r.Method + " " + r.URL.Path
	}
	if form.Get("LocationType") == "availability-zone" {
		call += " by zone"
	}
	if strings.Contains(call, "Create") || strings.Contains(call, "Attach") || strings.HasPrefix(call, "PATCH") {
		c.changes = append(c.changes, call)
	}
	answer := c.answers[call]
	if status, rest, ok := strings.Cut(answer, " "); ok && len(status) == 3 {
		w.WriteHeader(400)
		answer = rest
	}
	_, _ = io.WriteString(w, answer)
}

// offer returns what EC2 says about a type in a zone.
func offer(zone, kind string) string {
	return "<item><instanceType>" + kind + "</instanceType><location>" + zone + "</location></item>"
}

// fresh returns an account in which nothing was created yet.
func fresh() *cloud {
	offerings, zones := "<x><instanceTypeOfferingSet>", "<x><availabilityZoneInfo>"
	for _, name := range []string{"m6i.xlarge", "m7i.xlarge", "g5.xlarge"} {
		offerings += "<item><instanceType>" + name + "</instanceType></item>"
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		zones += "<item><zoneName>us-east-1" + name + "</zoneName></item>"
	}
	return &cloud{answers: map[string]string{
		"ec2 DescribeInstanceTypeOfferings": offerings + "</instanceTypeOfferingSet></x>",
		"ec2 DescribeAvailabilityZones":     zones + "</availabilityZoneInfo></x>",
		"ec2 DescribeInstanceTypeOfferings by zone": "<x><instanceTypeOfferingSet>" + offer("us-east-1d", "m6i.xlarge") + offer("us-east-1b", "m6i.xlarge") +
			offer("us-east-1d", "m7i.xlarge") + offer("us-east-1c", "m6i.xlarge") + "</instanceTypeOfferingSet></x>",
		"GET /2016-08-19/account-settings": `{"AccountLimit":{"ConcurrentExecutions":1000}}`,
		"quota L-34B43A08":                 `{"Quota":{"Value":5.0}}`, "quota L-1216C47A": `{"Quota":{"Value":64.0}}`,
		"quota L-3819A6DF": `{"Quota":{"Value":0.0}}`, "quota L-DB2E81BA": `{"Quota":{"Value":0.0}}`,
		"cloudformation DescribeStacks": "400 <ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id Lipsync does not exist</Message></Error></ErrorResponse>",
		`bus {"Name":"main"}`:           `{"Name":"main"}`, `bus {"Name":"none"}`: `400 {"__type":"ResourceNotFoundException","message":"Event bus none does not exist."}`,
		"GET /account": `{"throttleSettings":{}}`, "PATCH /account": `{}`,
		"iam GetRole": "<GetRoleResponse><GetRoleResult><Role><Arn>arn:role</Arn></Role></GetRoleResult></GetRoleResponse>",
	}}
}

// prepare prepares a deployment to the account.
func (c *cloud) prepare(t *testing.T, given map[string]any) (added, said string, err error) {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	var out strings.Builder
	d := deployment{
		account: account.Account{Config: aws.Config{
			Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
			RetryMaxAttempts: 1,
		}},
		given: given, out: &out, triggers: c.triggers,
	}
	all, err := d.prepare(context.Background())
	return fmt.Sprint(all), out.String(), err
}

// chosen are the settings that are chosen for a new stack in the fresh account.
const chosen = "-c lipsync:instanceTypes=m6i.xlarge,m7i.xlarge -c lipsync:zoneNames=us-east-1d,us-east-1b,us-east-1c -c lipsync:lambdaQuota=1000"

// TestFirst prepares an empty account, and deploys twice: if the stack can't be created, its data
// must not be protected.
func TestFirst(t *testing.T) {
	c := fresh()
	added, said, err := c.prepare(t, map[string]any{})
	want := "[[" + chosen + " -c lipsync:firstDeploy=true] [" + chosen + "]]"
	if err != nil || added != want {
		t.Errorf("got %s (%v), want %s", added, err, want)
	}
	wantChanges := []string{
		"iam CreateServiceLinkedRolebatch.amazonaws.com", "iam CreateServiceLinkedRolespot.amazonaws.com",
		"iam CreateRole", "iam AttachRolePolicy", "PATCH /account",
	}
	if !slices.Equal(c.changes, wantChanges) {
		t.Errorf("got the changes %q, want %q", c.changes, wantChanges)
	}
	if want := "lipsync:spotVcpus is 64, but the account's quota L-34B43A08 of EC2 is 5 vCPUs.\n"; !strings.Contains(said, want) {
		t.Errorf("got %q, want %q in it", said, want)
	}
}

// made returns an account with all roles, and a stack with the status and the metadata.
func made(status, metadata string) *cloud {
	const taken = "400 <ErrorResponse><Error><Code>InvalidInput</Code><Message>Service role name has been taken in this account</Message></Error></ErrorResponse>"
	c := fresh()
	c.answers["GET /account"] = `{"cloudwatchRoleArn":"arn:another"}`
	c.answers["iam CreateServiceLinkedRolebatch.amazonaws.com"], c.answers["iam CreateServiceLinkedRolespot.amazonaws.com"] = taken, taken
	c.answers["cloudformation DescribeStacks"] = "<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Lipsync</StackName><StackStatus>" + status +
		"</StackStatus><CreationTime>2026-11-22T00:00:00Z</CreationTime></member></Stacks></DescribeStacksResult></DescribeStacksResponse>"
	c.answers["cloudformation GetTemplateSummary"] = "<GetTemplateSummaryResponse><GetTemplateSummaryResult><Metadata>" + metadata + "</Metadata></GetTemplateSummaryResult></GetTemplateSummaryResponse>"
	return c
}

func TestAgain(t *testing.T) {
	const usual = "[[-c lipsync:instanceTypes=m6i.xlarge,m7i.xlarge -c lipsync:lambdaQuota=1000]]"
	settings := `{"Lipsync::Settings":{"lipsync:image":"cpu","lipsync:alarmEmail":"me@example.com","lipsync:instanceTypes":"m5.xlarge"}}`
	for name, c := range map[string]struct {
		cloud *cloud
		given map[string]any
		want  string
		err   string
	}{
		"the same":      {made("UPDATE_COMPLETE", settings), map[string]any{"lipsync:alarmEmail": "me@example.com"}, usual, ""},
		"one forgotten": {made("UPDATE_COMPLETE", settings), map[string]any{}, "", "-c lipsync:alarmEmail=me@example.com"},
		"one changed":   {made("UPDATE_COMPLETE", settings), map[string]any{"lipsync:alarmEmail": ""}, usual, ""},
		"of before":     {made("UPDATE_COMPLETE", "{}"), map[string]any{}, usual, ""},
		"could not be made": {made("ROLLBACK_COMPLETE", settings), map[string]any{},
			"[[" + chosen + " -c lipsync:firstDeploy=true] [" + chosen + "]]", ""},
		"zones of before": {made("UPDATE_COMPLETE", `{"Lipsync::Settings":{"lipsync:zoneNames":"us-east-1a,us-east-1b,us-east-1c"}}`), map[string]any{},
			"[[-c lipsync:instanceTypes=m6i.xlarge,m7i.xlarge -c lipsync:zoneNames=us-east-1a,us-east-1b,us-east-1c -c lipsync:lambdaQuota=1000]]", ""},
		"one zone more": {made("UPDATE_COMPLETE", `{"Lipsync::Settings":{"lipsync:zoneNames":"us-east-1a,us-east-1b,us-east-1c","lipsync:zones":"3"}}`), map[string]any{"lipsync:zones": 4.0},
			"[[-c lipsync:instanceTypes=m6i.xlarge,m7i.xlarge -c lipsync:zoneNames=us-east-1a,us-east-1b,us-east-1c,us-east-1d -c lipsync:lambdaQuota=1000]]", ""},
		"a named quota":           {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:lambdaQuota": "300"}, "[[-c lipsync:instanceTypes=m6i.xlarge,m7i.xlarge]]", ""},
		"named types":             {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:instanceTypes": "m7i.xlarge"}, "[[-c lipsync:lambdaQuota=1000]]", ""},
		"types of another region": {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:instanceTypes": "m7i.xlarge,m8z.xlarge"}, "", "us-east-1 has no instances of the types m8z.xlarge:"},
		"too many zones":          {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:zones": "5"}, "", "lipsync:zones is 5, but in us-east-1 the account has only us-east-1a, us-east-1b, us-east-1c, us-east-1d"},
		"a bus":                   {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:eventBus": "main"}, usual, ""},
		"another account's bus":   {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:eventBus": "arn:aws:events:us-east-1:123456789012:event-bus/none"}, usual, ""},
		"another region's bus":    {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:eventBus": "arn:aws:events:eu-west-1:123456789012:event-bus/main"}, "", "lipsync:eventBus: the bus is in eu-west-1, and the stack in us-east-1"},
		"no such bus":             {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:eventBus": "none"}, "", "lipsync:eventBus: events: Event bus none does not exist."},
		"no GPU":                  {made("UPDATE_COMPLETE", "{}"), map[string]any{"lipsync:image": "cuda", "lipsync:engines": "wav2lip", "lipsync:gpuInstanceTypes": "m7i.xlarge"}, "", "no job could run on lipsync:gpuInstanceTypes: one takes 4 vCPUs."},
	} {
		added, _, err := c.cloud.prepare(t, c.given)
		if c.err == "" && (err != nil || added != c.want) {
			t.Errorf("%s: got %s (%v), want %s", name, added, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got %v, want %s", name, err, c.err)
		}
		wantChanges := []string{"iam CreateServiceLinkedRolebatch.amazonaws.com", "iam CreateServiceLinkedRolespot.amazonaws.com"}
		if c.err == "" && !slices.Equal(c.cloud.changes, wantChanges) {
			t.Errorf("%s: got the changes %q, want only %q, which do nothing here", name, c.cloud.changes, wantChanges)
		}
	}
}

// TestHealthRegion refuses a check from outside whose alarm would never get a value.
func TestHealthRegion(t *testing.T) {
	d := deployment{account: account.Account{Config: aws.Config{Region: "eu-west-1"}}}
	s, err := stack.ParseSettings(map[string]any{"lipsync:healthCheck": true})
	if err != nil {
		t.Fatal(err)
	}
	const want = "lipsync:healthCheck: Route 53 tells alarms of its checks only in us-east-1, and the stack is in eu-west-1"
	if err := d.checkRegion(t.Context(), s); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRollback checks that the alarm of the deployed stack takes a faulty deployment back, unless the operator names others.
func TestRollback(t *testing.T) {
	for _, own := range []bool{false, true} {
		c := made("UPDATE_COMPLETE", "{}")
		c.triggers = own
		c.answers["cloudformation DescribeStacks"] = strings.Replace(c.answers["cloudformation DescribeStacks"], "</member></Stacks>",
			"<Outputs><member><OutputKey>RollbackAlarmArn</OutputKey><OutputValue>arn:alarm</OutputValue></member></Outputs></member></Stacks>", 1)
		added, _, err := c.prepare(t, map[string]any{})
		if got, want := strings.HasSuffix(added, " --rollback-trigger-alarm-arns=arn:alarm --monitoring-time-minutes=10]]"), !own; err != nil || got != want {
			t.Errorf("got %s (%v), want it with the alarm: %t", added, err, want)
		}
	}
}

// TestGPUZones chooses zones with GPUs before those with more types of other instances, and refuses zones of which none has any.
func TestGPUZones(t *testing.T) {
	for name, c := range map[string]struct {
		cloud *cloud
		zones string
		n     int
		want  string
		err   string
	}{
		"new":                  {fresh(), "", 2, "us-east-1c,us-east-1d", ""},
		"three":                {fresh(), "", 3, "us-east-1c,us-east-1d,us-east-1b", ""},
		"named":                {fresh(), "us-east-1c,us-east-1b", 2, "", ""},
		"none":                 {fresh(), "us-east-1b,us-east-1d", 2, "", "the zones us-east-1b, us-east-1d have no instances of the types g5.xlarge: name others in lipsync:gpuInstanceTypes, or zones in lipsync:zoneNames"},
		"before":               {made("UPDATE_COMPLETE", `{"Lipsync::Settings":{"lipsync:zoneNames":"us-east-1a,us-east-1d"}}`), "", 2, "", "the zones us-east-1a, us-east-1d have no instances of the types g5.xlarge:"},
		"one more, with a GPU": {made("UPDATE_COMPLETE", `{"Lipsync::Settings":{"lipsync:zoneNames":"us-east-1a,us-east-1d"}}`), "", 3, "us-east-1a,us-east-1d,us-east-1c", ""},
	} {
		c.cloud.answers["quota L-DB2E81BA"] = `{"Quota":{"Value":8.0}}`
		by := "ec2 DescribeInstanceTypeOfferings by zone"
		c.cloud.answers[by] = strings.Replace(c.cloud.answers[by], "</instanceTypeOfferingSet>", offer("us-east-1c", "g5.xlarge")+"</instanceTypeOfferingSet>", 1)
		given := map[string]any{"lipsync:image": "cuda", "lipsync:engines": "wav2lip", "lipsync:zones": c.n}
		if c.zones != "" {
			given["lipsync:zoneNames"] = c.zones
		}
		added, _, err := c.cloud.prepare(t, given)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %s", name, err, c.err)
			}
			continue
		}
		if got := strings.Contains(added, "-c lipsync:zoneNames="+c.want+" "); err != nil || got != (c.want != "") {
			t.Errorf("%s: got %s (%v), want the zones %q", name, added, err, c.want)
		}
	}
}

// TestGPU prepares a stack with GPUs, with types that the region offers and others.
func TestGPU(t *testing.T) {
	c := made("UPDATE_COMPLETE", "{}")
	c.answers["quota L-DB2E81BA"] = `{"Quota":{"Value":8.0}}`
	gpu := map[string]any{"lipsync:image": "cuda", "lipsync:engines": "wav2lip"}
	added, said, err := c.prepare(t, maps.Clone(gpu))
	if want := "[[-c lipsync:instanceTypes=m6i.xlarge,m7i.xlarge -c lipsync:gpuInstanceTypes=g5.xlarge -c lipsync:lambdaQuota=1000]]"; err != nil || added != want {
		t.Errorf("got %s (%v), want %s", added, err, want)
	}
	gpu["lipsync:gpuInstanceTypes"] = "g6.xlarge"
	if _, _, err := c.prepare(t, gpu); err == nil || !strings.Contains(err.Error(), "no instances of the types g6.xlarge: name others in lipsync:gpuInstanceTypes") {
		t.Errorf("got %v, want that there are no instances", err)
	}
	for _, want := range []string{"lipsync:gpuSpotVcpus is 32, but the account's quota L-3819A6DF of EC2 is 0 vCPUs.\n", "lipsync:gpuOnDemandVcpus is 16, but the account's quota L-DB2E81BA of EC2 is 8 vCPUs.\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("got %q, want %q in it", said, want)
		}
	}
}

// TestQuotas checks what an operator is told about quotas of a young account and of a small region.
func TestQuotas(t *testing.T) {
	c := made("UPDATE_COMPLETE", "{}")
	c.answers["GET /2016-08-19/account-settings"] = `{"AccountLimit":{"ConcurrentExecutions":10}}`
	c.answers["GET /account"] = `{"cloudwatchRoleArn":"arn:another","throttleSettings":{"rateLimit":2500,"burstLimit":1250}}`
	c.answers["quota L-34B43A08"] = `400 {"__type":"NoSuchResourceException","message":"The request failed because the specified service quota does not exist."}`
	c.answers["default quota L-34B43A08"] = `{"Quota":{"Value":7.0}}`
	added, said, err := c.prepare(t, map[string]any{"lipsync:requestRate": "700"})
	if want := "[[-c lipsync:instanceTypes=m6i.xlarge,m7i.xlarge -c lipsync:lambdaQuota=10]]"; err != nil || added != want {
		t.Errorf("got %s (%v), want %s", added, err, want)
	}
	for _, want := range []string{
		"lipsync:requestRate is 700, and twice that in a burst, but API Gateway allows all APIs of the account in us-east-1 2500 calls a second, and 1250 in a burst.\n",
		"quota L-34B43A08 of EC2 is 7 vCPUs.\n",
		"Lambda runs 10 calls of the account's functions at a time",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("got %q, want %q in it", said, want)
		}
	}
	c.answers["default quota L-34B43A08"] = c.answers["quota L-34B43A08"]
	if _, _, err := c.prepare(t, map[string]any{}); err == nil || !strings.Contains(err.Error(), "quota does not exist") {
		t.Errorf("an unknown quota: got %v", err)
	}
	if _, said, err = fresh().prepare(t, map[string]any{}); err != nil || strings.Contains(said, "Lambda") || strings.Contains(said, "Gateway allows") {
		t.Errorf("enough of all: got %q (%v)", said, err)
	}
}
