package templatetests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/http/rest"
	"lipsync/internal/test/check"
)

// rights has everything that each role may do: actions with their resources. X-Ray, ListJobs, ListStreams and
// GetAuthorizationToken have no resources; the only other stars are after a prefix of the bucket.
func rights() map[string][]string {
	all := maps.Clone(otherRights)
	for _, e := range rest.Endpoints() {
		var actions []string
		if e.Calls != "" {
			for _, action := range []string{"BatchGetItem", "GetItem", "UpdateItem"} {
				actions = append(actions, "dynamodb:"+action+" Table on calls/* key/* keyid/* rate/*")
			}
		}
		for _, n := range e.Needs {
			actions = append(actions, needed[n].rights...)
		}
		slices.Sort(actions)
		all[logical(e.Function)+"Role"] = with(logical(e.Function)+"Log", slices.Compact(actions)...)
	}
	var tools []string
	for _, f := range []string{"generate", "list-requests", "get-request", "get-analysis", "cancel-request", "create-upload", "create-batch", "cancel-batch"} {
		for _, action := range all[logical(f)+"Role"] {
			tools = append(tools, strings.Replace(action, logical(f)+"Log", "McpLog", 1))
		}
	}
	slices.Sort(tools)
	all["McpRole"] = slices.Compact(tools)
	all["SmallRole"] = with("SmallLog", all["RunnerRole"]...)
	return all
}

// changed has the keys of the items that functions of endpoints change, except those of callers.CheckedKeys: no API keys and no sessions.
const changed = " on account/* batch/* batches/* claimed/* delivery/* freed/* idempotency/* request/* upload/* usage/* used/* webhooks/*"

// needed is the tests' own table of needs. For each need of an endpoint, it has the rights of the
// endpoint's function, and whether the function uses the retention of media. All functions of
// endpoints with a key may also read and update items, to check keys.
var needed = map[rest.Need]struct {
	rights    []string
	retention bool
}{
	rest.ListEngines:   {rights: []string{"dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:Query Table"}},
	rest.KnowRetention: {retention: true},
	rest.ReadRequests:  {rights: []string{"dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:Query Table"}},
	rest.KnowQueue:     {rights: []string{"dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:Query Table", "dynamodb:Query Table/index/open"}},
	rest.ListRequests:  {rights: []string{"dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:Query Table", "dynamodb:Query Table/index/open"}},
	rest.CreateRequests: {retention: true, rights: []string{
		"dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:PutItem Table" + changed, "dynamodb:Query Table", "dynamodb:UpdateItem Table" + changed, "dynamodb:Query Table/index/open", "sqs:SendMessage Queue",
	}},
	rest.CancelRequests: {rights: []string{
		"dynamodb:DeleteItem Table" + changed, "dynamodb:PutItem Table" + changed, "dynamodb:UpdateItem Table" + changed, "dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:Query Table",
		"s3:DeleteObject Media/inputs/*", "s3:DeleteObject Media/outputs/*", "s3:DeleteObject Media/pieces/*", "s3:ListBucket Media",
		"sqs:SendMessage Deliveries",
	}},
	rest.UseWebhooks: {rights: []string{"dynamodb:GetItem Table", "dynamodb:PutItem Table" + changed, "dynamodb:Query Table", "dynamodb:UpdateItem Table" + changed, "dynamodb:Query Table/index/open", "sqs:SendMessage Deliveries"}},
	rest.ReadOutputs: {retention: true, rights: []string{
		"dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:Query Table", "s3:GetObject Media/outputs/*", "s3:ListBucket Media",
	}},
	rest.ReadUploads: {rights: []string{"dynamodb:GetItem Table on upload/*", "s3:GetObject Media/uploads/*", "s3:ListBucket Media"}},
	rest.CreateUploads: {retention: true, rights: []string{
		"dynamodb:GetItem Table on usage/*", "dynamodb:PutItem Table" + changed, "dynamodb:Query Table", "dynamodb:UpdateItem Table" + changed, "sqs:SendMessage Queue",
	}},
	rest.StoreInputs: {rights: []string{
		"s3:AbortMultipartUpload Media/inputs/*", "s3:DeleteObject Media/inputs/*", "s3:PutObject Media/inputs/*",
	}},
	rest.MakeBatches: {rights: []string{
		"s3:AbortMultipartUpload Media/batches/*", "s3:DeleteObject Media/batches/*", "s3:GetObject Media/batches/*", "s3:PutObject Media/batches/*",
	}},
	rest.CloseBatches: {rights: []string{"s3:DeleteObject Media/batches/*"}},
	rest.DeleteMedia: {rights: []string{
		"dynamodb:DeleteItem Table" + changed, "dynamodb:PutItem Table" + changed, "dynamodb:UpdateItem Table" + changed, "dynamodb:BatchGetItem Table", "dynamodb:GetItem Table", "dynamodb:Query Table", "dynamodb:Query Table/index/open",
		"dynamodb:DeleteItem Table on calls/*",
		"s3:AbortMultipartUpload Media/inputs/*", "s3:AbortMultipartUpload Media/outputs/*", "s3:AbortMultipartUpload Media/pieces/*",
		"s3:DeleteObject Media/inputs/*", "s3:DeleteObject Media/outputs/*", "s3:DeleteObject Media/pieces/*", "s3:DeleteObject Media/uploads/*",
		"s3:AbortMultipartUpload Media/findings/*", "s3:DeleteObject Media/findings/*", "s3:GetObject Media/batches/*",
		"s3:ListBucket Media", "s3:ListBucketMultipartUploads Media",
	}},
	rest.SignURLs: {retention: true, rights: []string{
		"cognito-identity:GetOpenIdTokenForDeveloperIdentity arn:AWS::Partition:cognito-identity:AWS::Region:AWS::AccountId:identitypool/SignerPool",
		"sts:AssumeRole Signer",
	}},
}

// otherRights has the rights of all other roles than those of the API's functions.
var otherRights = map[string][]string{
	"DashboardPagesRole": with("DashboardPagesLog",
		"dynamodb:BatchGetItem Table on account/* claimed/* freed/* idempotency/* key/* keyid/* rate/* request/* used/* webhooks/*",
		"dynamodb:DeleteItem Table on batch/* request/* upload/*",
		"dynamodb:GetItem Table on batch/* batches/* delivery/* idempotency/* keyid/* sessions/* upload/* usage/* webhooks/*",
		"dynamodb:PutItem Table on batch/* delivery/* idempotency/* key/* keyid/* keys/* request/* upload/*",
		"dynamodb:Query Table on calls/* delivery/* keys/* pool request/* usage/*",
		"dynamodb:Query Table/index/open on account/* batches/* due/* undelivered/* held/by* queue*",
		"dynamodb:UpdateItem Table on account/* batch/* batches/* delivery/* key/* rate/* sessions/* upload/* usage/* webhooks/*",
		"s3:AbortMultipartUpload Media/inputs/*", "s3:AbortMultipartUpload Media/outputs/*", "s3:AbortMultipartUpload Media/pieces/*",
		"s3:DeleteObject Media/inputs/*", "s3:DeleteObject Media/outputs/*", "s3:DeleteObject Media/pieces/*", "s3:DeleteObject Media/uploads/*",
		"s3:AbortMultipartUpload Media/findings/*", "s3:DeleteObject Media/findings/*",
		"s3:AbortMultipartUpload Media/batches/*", "s3:DeleteObject Media/batches/*", "s3:GetObject Media/batches/*", "s3:PutObject Media/batches/*",
		"s3:GetObject Media/inputs/*", "s3:GetObject Media/outputs/*", "s3:GetObject Media/uploads/*", "s3:ListBucket Media", "s3:ListBucketMultipartUploads Media",
		"secretsmanager:GetSecretValue SessionSecret", "sqs:SendMessage Queue", "sqs:SendMessage Deliveries", "sts:AssumeRole DashboardSigner",
		"cognito-identity:GetOpenIdTokenForDeveloperIdentity arn:AWS::Partition:cognito-identity:AWS::Region:AWS::AccountId:identitypool/DashboardSignerPool"),
	"DeliverRole": with("DeliverLog",
		"dynamodb:Query Table on request/*", "dynamodb:DeleteItem Table on delivery/* webhooks/*",
		"dynamodb:GetItem Table on delivery/* webhooks/*", "dynamodb:GetItem Table on batch/*", "dynamodb:UpdateItem Table on delivery/* webhooks/*",
		"cognito-identity:GetOpenIdTokenForDeveloperIdentity arn:AWS::Partition:cognito-identity:AWS::Region:AWS::AccountId:identitypool/SignerPool",
		"sts:AssumeRole Signer", "sqs:SendMessage Deliveries",
		"sqs:ChangeMessageVisibility Deliveries", "sqs:DeleteMessage Deliveries", "sqs:GetQueueAttributes Deliveries",
		"sqs:GetQueueUrl Deliveries", "sqs:ReceiveMessage Deliveries"),
	"PublishRole": with("PublishLog",
		"events:PutEvents arn:AWS::Partition:events:AWS::Region:AWS::AccountId:event-bus/main",
		"dynamodb:DescribeStream Table.StreamArn", "dynamodb:GetRecords Table.StreamArn", "dynamodb:GetShardIterator Table.StreamArn",
		"dynamodb:ListStreams *",
		"cognito-identity:GetOpenIdTokenForDeveloperIdentity arn:AWS::Partition:cognito-identity:AWS::Region:AWS::AccountId:identitypool/SignerPool",
		"sts:AssumeRole Signer",
		"sqs:GetQueueAttributes DeadLetters", "sqs:GetQueueUrl DeadLetters", "sqs:SendMessage DeadLetters"),
	"DispatchRole": with("DispatchLog",
		"batch:ListJobs *", "batch:SubmitJob Jobs.JobQueueArn",
		"batch:SubmitJob arn:AWS::Partition:batch:AWS::Region:AWS::AccountId:Runner part 5:*", // any revision
		"dynamodb:GetItem Table on pool", "dynamodb:Query Table on pool", "dynamodb:Query Table/index/open", "dynamodb:UpdateItem Table on pool", "lambda:InvokeFunction Small",
		"sqs:ChangeMessageVisibility Queue", "sqs:DeleteMessage Queue", "sqs:GetQueueAttributes Queue",
		"sqs:GetQueueUrl Queue", "sqs:ReceiveMessage Queue"),
	"SweepRole": with("SweepLog",
		"batch:ListJobs *", "batch:SubmitJob Jobs.JobQueueArn",
		"batch:SubmitJob arn:AWS::Partition:batch:AWS::Region:AWS::AccountId:Runner part 5:*", // any revision
		"dynamodb:BatchGetItem Table on account/* batch/* freed/* key/* keyid/* request/* upload/* used/* webhooks/*",
		"dynamodb:DeleteItem Table on batch/* request/* upload/*",
		"dynamodb:GetItem Table on pool upload/*", "dynamodb:PutItem Table on delivery/* request/*",
		"dynamodb:Query Table on keys/* pool request/* usage/*",
		"dynamodb:Query Table/index/open on account/* batches due/* held/by* queue* upload* webhooks",
		"dynamodb:UpdateItem Table on account/* batch/* batches/* claimed/* freed/* key/* pool request/* upload/* usage/* used/* webhooks/*",
		"s3:DeleteObject Media/inputs/*", "s3:DeleteObject Media/outputs/*", "s3:DeleteObject Media/pieces/*", "s3:DeleteObject Media/uploads/*",
		"s3:DeleteObject Media/batches/*", "s3:GetObject Media/batches/*", "s3:GetObject Media/uploads/*",
		"s3:ListBucket Media", "sqs:SendMessage Queue", "sqs:SendMessage Deliveries", "lambda:InvokeFunction Small",
		"sqs:GetQueueAttributes DeadLetters", "sqs:GetQueueUrl DeadLetters", "sqs:SendMessage DeadLetters"),
	"Signer": {"s3:GetObject Media/outputs/*", "s3:PutObject Media/uploads/*"},
	"DashboardSigner": {
		"s3:GetObject Media/inputs/*", "s3:GetObject Media/outputs/*", "s3:GetObject Media/uploads/*", "s3:PutObject Media/uploads/*",
	},
	"BrokerRole": with("BrokerLog",
		"dynamodb:BatchGetItem Table on request/* claimed/* account/*", "dynamodb:Query Table on request/* claimed/* account/*", "dynamodb:Query Table/index/open on queue* held/by*",
		"dynamodb:DeleteItem Table on request/* account/* usage/* claimed/* freed/* pool",
		"dynamodb:PutItem Table on request/* account/* usage/* claimed/* freed/* pool",
		"dynamodb:UpdateItem Table on request/* account/* usage/* claimed/* freed/* pool",
		"dynamodb:PutItem Table on delivery/*", "sqs:SendMessage Deliveries", "sqs:SendMessage Queue",
		"s3:DeleteObject Media/inputs/*", "s3:DeleteObject Media/outputs/*", "s3:DeleteObject Media/pieces/*", "s3:ListBucket Media",
		"sts:AssumeRole RequestMedia"),
	// Each session of it has a policy that leaves the media of one request.
	"RequestMedia": {
		"s3:GetObject Media/inputs/*", "s3:GetObject Media/uploads/*",
		"s3:AbortMultipartUpload Media/outputs/*", "s3:DeleteObject Media/outputs/*", "s3:PutObject Media/outputs/*",
		"s3:AbortMultipartUpload Media/pieces/*", "s3:GetObject Media/pieces/*", "s3:PutObject Media/pieces/*",
		"s3:AbortMultipartUpload Media/findings/*", "s3:DeleteObject Media/findings/*", "s3:GetObject Media/findings/*", "s3:PutObject Media/findings/*",
	},
	"RunnerRole": {"lambda:InvokeFunction Broker", "s3:GetObject Media/models/*"},
	// ECS uses it to start the container: it fetches the image and writes the log.
	"ContainerExecutionRole": {
		"ecr:BatchCheckLayerAvailability IMAGES", "ecr:BatchGetImage IMAGES", "ecr:GetAuthorizationToken *",
		"ecr:GetDownloadUrlForLayer IMAGES", "logs:CreateLogStream RunnerLog", "logs:PutLogEvents RunnerLog",
	},
}

// managed has the roles with AWS's managed policies.
var managed = map[string]string{
	"InstanceRole": "AmazonEC2ContainerServiceforEC2Role",
}

// with adds the rights that every function has.
func with(log string, actions ...string) []string {
	return append(actions, "logs:CreateLogStream "+log, "logs:PutLogEvents "+log,
		"xray:PutTelemetryRecords *", "xray:PutTraceSegments *")
}

func TestRights(t *testing.T) {
	got := map[string][]string{}
	for _, name := range deployed().all("AWS::IAM::Policy") {
		for _, role := range list(deployed().Resources[name].Properties["Roles"]) {
			got[role] = append(got[role], deployed().allowed(t, name)...)
		}
	}
	for role, want := range rights() {
		check.Names(t, role, got[role], want)
		delete(got, role)
	}
	for role, actions := range got {
		t.Errorf("%s may do %q, which is not in the list", role, actions)
	}
}

// TestNeeds checks that the tests' own table has each need.
func TestNeeds(t *testing.T) {
	for _, e := range rest.Endpoints() {
		for _, n := range e.Needs {
			if _, known := needed[n]; !known {
				t.Errorf("%s: the tests' table has no row for the need to %s", e.Function, n)
			}
		}
	}
}

// TestRoles checks that roles have no rights except those of TestRights and of managed.
func TestRoles(t *testing.T) {
	for _, name := range deployed().all("AWS::IAM::Role") {
		p := deployed().Resources[name].Properties
		if p["Policies"] != nil {
			t.Errorf("%s has policies of its own", name)
		}
		policies := list(p["ManagedPolicyArns"])
		if want, ok := managed[name]; ok != (len(policies) == 1) || ok && !strings.HasSuffix(policies[0], "/"+want) {
			t.Errorf("%s has the policies %q, want %q", name, policies, want)
		}
		if _, known := rights()[name]; !known && managed[name] == "" {
			t.Errorf("the rights of %s are not in the list", name)
		}
	}
}

// TestTrust checks who may assume each role.
func TestTrust(t *testing.T) {
	for _, name := range deployed().all("AWS::IAM::Role") {
		want := `{"Service":"lambda.amazonaws.com"}`
		switch name {
		case "Signer":
			want = `{"AWS":["` + strings.Join(signingRoles(), `","`) + `"]}`
		case "DashboardSigner":
			want = `{"AWS":"DashboardPagesRole.Arn"}`
		case "RequestMedia":
			want = `{"AWS":"BrokerRole.Arn"}`
		case "RunnerRole", "ContainerExecutionRole":
			want = `{"Service":"ecs-tasks.amazonaws.com"}`
		case "InstanceRole":
			want = `{"Service":"ec2.amazonaws.com"}`
		}
		if got := deployed().get(name, "AssumeRolePolicyDocument.Statement.0.Principal"); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		also := ""
		if strings.HasSuffix(name, "Signer") { // identities of the signer's own pool, with a token of Cognito
			also = `{"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"ForAnyValue:StringLike":{"cognito-identity.amazonaws.com:amr":"authenticated"},` +
				`"StringEquals":{"cognito-identity.amazonaws.com:aud":"` + name + `Pool"}},"Effect":"Allow","Principal":{"Federated":"cognito-identity.amazonaws.com"}}`
		}
		if got := deployed().get(name, "AssumeRolePolicyDocument.Statement.1"); got != also {
			t.Errorf("%s may also be %s, want %q", name, got, also)
		}
		if got := deployed().get(name, "AssumeRolePolicyDocument.Statement.2"); got != "" {
			t.Errorf("%s may also be %s", name, got)
		}
	}
}

// signingRoles has the roles whose functions sign URLs for the API, sorted.
func signingRoles() []string {
	all := []string{"DeliverRole.Arn", "McpRole.Arn", "PublishRole.Arn"}
	for _, e := range rest.Endpoints() {
		if slices.Contains(e.Needs, rest.SignURLs) {
			all = append(all, logical(e.Function)+"Role.Arn")
		}
	}
	slices.Sort(all)
	return all
}

// statement is a statement of a policy. Most of its members are a string or a list.
type statement struct {
	Effect                                                         string
	Action, NotAction, Resource, NotResource, Principal, Condition any
}

// statements returns the statements of the policy with the name.
func (t template) statements(tt *testing.T, policy string) []statement {
	tt.Helper()
	var all []statement
	t.read(tt, policy, "PolicyDocument.Statement", &all)
	return all
}

// allowed returns the actions of a policy, each with its resources.
func (t template) allowed(tt *testing.T, policy string) []string {
	tt.Helper()
	var all []string
	for _, s := range t.statements(tt, policy) {
		if s.Effect != "Allow" || s.NotAction != nil || s.NotResource != nil {
			tt.Errorf("%s has more than actions and resources: %+v", policy, s)
		}
		for _, action := range list(s.Action) {
			for _, resource := range list(s.Resource) {
				all = append(all, action+" "+short(resource)+on(tt, policy, s.Condition))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// on returns the keys that a condition restricts rights to, after " on ". It is the only kind of
// condition.
func on(t *testing.T, policy string, condition any) string {
	t.Helper()
	if condition == nil {
		return ""
	}
	const before, after = "map[ForAllValues:StringLike:map[dynamodb:LeadingKeys:[", "]]]"
	keys, begins := strings.CutPrefix(text(condition), before)
	keys, ends := strings.CutSuffix(keys, after)
	if !begins || !ends {
		t.Errorf("%s has the condition %v", policy, condition)
	}
	return " on " + keys
}

// short returns an ARN without the parts that all ARNs have.
func short(resource string) string {
	if strings.Contains(resource, ":repository/cdk-") {
		return "IMAGES"
	}
	return strings.Replace(resource, ".Arn", "", 1)
}

// list returns a list of strings for a string or a list.
func list(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		var all []string
		for _, word := range v {
			all = append(all, fmt.Sprint(word))
		}
		return all
	default:
		return []string{fmt.Sprint(v)}
	}
}

// TestSigners checks that sessions last 12 hours, and that only the functions get them.
func TestSigners(t *testing.T) {
	for _, name := range []string{"Signer", "DashboardSigner"} {
		deployed().check(t, []property{
			{name, "MaxSessionDuration", "43200"},
			{name + "Pool", "AllowUnauthenticatedIdentities", "false"},
			{name + "Pool", "DeveloperProviderName", `"lipsync"`},
			{name + "Pool", "CognitoIdentityProviders", ""},
			{name + "Pool", "SupportedLoginProviders", ""},
		})
	}
	check.Names(t, "pools of identities", deployed().all("AWS::Cognito::IdentityPool"), []string{"SignerPool", "DashboardSignerPool"})
	check.Names(t, "rights of identities", deployed().all("AWS::Cognito::IdentityPoolRoleAttachment"), nil)
}
