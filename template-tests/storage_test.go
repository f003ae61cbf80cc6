package templatetests

import (
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/check"
)

func TestTable(t *testing.T) {
	deployed().check(t, []property{
		{"Table", "KeySchema", `[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]`},
		{"Table", "GlobalSecondaryIndexes", `[{"IndexName":"open","KeySchema":[{"AttributeName":"open","KeyType":"HASH"},` +
			`{"AttributeName":"openAt","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]`},
		{"Table", "TimeToLiveSpecification", `{"AttributeName":"ttl","Enabled":true}`},
		{"Table", "BillingMode", `"PAY_PER_REQUEST"`},
		{"Table", "PointInTimeRecoverySpecification", `{"PointInTimeRecoveryEnabled":true}`},
		{"Table", "DeletionProtectionEnabled", `true`},
	})
	other().check(t, []property{{"Table", "DeletionProtectionEnabled", `false`}})
	unmade().check(t, []property{{"Table", "DeletionProtectionEnabled", `false`}, {"Users", "DeletionProtection", `"INACTIVE"`}})
}

func TestBucket(t *testing.T) {
	check.Names(t, "buckets", deployed().all("AWS::S3::Bucket"), []string{"Media"})
	deployed().check(t, []property{
		{"Media", "PublicAccessBlockConfiguration",
			`{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`},
		{"Media", "OwnershipControls.Rules", `[{"ObjectOwnership":"BucketOwnerEnforced"}]`},
		{"Media", "BucketEncryption.ServerSideEncryptionConfiguration", `[{"ServerSideEncryptionByDefault":{"SSEAlgorithm":"AES256"}}]`},
		{"Media", "AccessControl", ""},
		{"Media", "WebsiteConfiguration", ""},
		{"Media", "LifecycleConfiguration.Rules", `[` +
			`{"ExpirationInDays":7,"Id":"inputs","Prefix":"inputs/","Status":"Enabled"},` +
			`{"ExpirationInDays":7,"Id":"pieces","Prefix":"pieces/","Status":"Enabled"},` +
			`{"ExpirationInDays":30,"Id":"batches","Prefix":"batches/","Status":"Enabled"},` +
			`{"ExpirationInDays":31,"Id":"uploads","Prefix":"uploads/","Status":"Enabled"},` +
			`{"ExpirationInDays":8,"Id":"outputs","Prefix":"outputs/","Status":"Enabled"},` +
			`{"ExpirationInDays":1,"Id":"findings","Prefix":"findings/","Status":"Enabled"},` +
			`{"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1},"Id":"parts","Status":"Enabled"},` +
			`{"ExpiredObjectDeleteMarker":true,"Id":"versions","NoncurrentVersionExpiration":{"NoncurrentDays":1},"Status":"Enabled"}]`},
		{"Media", "CorsConfiguration.CorsRules", `[{"AllowedHeaders":["*"],"AllowedMethods":["GET","HEAD","PUT"],"AllowedOrigins":["*","` + host + `"],"MaxAge":3600}]`},
	})
	other().check(t, []property{
		{"Media", "LifecycleConfiguration.Rules.3.ExpirationInDays", `33`}, // 30 days of use, and 49 h
		{"Media", "LifecycleConfiguration.Rules.4.ExpirationInDays", `3`},  // 48 h, and a day for the last link
		{"Media", "CorsConfiguration.CorsRules.0.AllowedOrigins", `["https://a.example","https://b.example","` + ownHost + `"]`},
	})
}

// TestNobodyElse checks that the policies of the bucket and the queues give rights to no strangers,
// and refuse calls without TLS.
func TestNobodyElse(t *testing.T) {
	want := map[string][]string{
		"MediaPolicy": nil,
		"QueuePolicy": nil,
		"DeadLettersPolicy": {
			`sqs:SendMessage by map[Service:events.amazonaws.com] if map[ArnEquals:map[aws:SourceArn:EachMinute.Arn]]`,
		},
		"AlarmsPolicy": {
			`sns:Publish by map[Service:cloudwatch.amazonaws.com] if map[StringEquals:map[aws:SourceAccount:AWS::AccountId]]`,
		},
	}
	policies := slices.Concat(deployed().all("AWS::S3::BucketPolicy"), deployed().all("AWS::SQS::QueuePolicy"), deployed().all("AWS::SNS::TopicPolicy"))
	for _, name := range policies {
		var got []string
		tls := false
		for _, s := range deployed().statements(t, name) {
			if s.Effect == "Deny" {
				tls = tls || strings.Contains(text(s.Condition), "aws:SecureTransport:false")
				continue
			}
			for _, action := range list(s.Action) {
				got = append(got, action+" by "+text(s.Principal)+" if "+text(s.Condition))
			}
		}
		if !tls {
			t.Errorf("%s allows calls without TLS", name)
		}
		check.Names(t, name, got, want[name])
		delete(want, name)
	}
	for name := range want {
		t.Errorf("no resource %s", name)
	}
}

// TestQueues checks that each queue has a dead-letter queue, except the dead-letter queue itself.
func TestQueues(t *testing.T) {
	for _, name := range deployed().all("AWS::SQS::Queue") {
		deployed().check(t, []property{{name, "SqsManagedSseEnabled", `true`}})
		if name != "DeadLetters" {
			deployed().check(t, []property{
				{name, "RedrivePolicy", `{"deadLetterTargetArn":"DeadLetters.Arn","maxReceiveCount":5}`},
			})
		}
	}
	if dead, queue := deployed().number(t, "DeadLetters", "MessageRetentionPeriod"), deployed().number(t, "Queue", "MessageRetentionPeriod"); dead <= queue {
		t.Errorf("dead letters are kept for %d s, and others for %d s: want more for the dead", dead, queue)
	}
}

// TestRemoval checks that parts with data outlive the stack, except after a failed creation, and that
// no others do.
func TestRemoval(t *testing.T) {
	retained := map[string]bool{"Table": true, "Media": true, "Users": true}
	for name, r := range deployed().Resources {
		want := [2]string{r.UpdateReplacePolicy, r.UpdateReplacePolicy} // the same as when it is replaced
		if retained[name] {
			want = [2]string{"RetainExceptOnCreate", "Retain"}
		}
		if got := [2]string{r.DeletionPolicy, r.UpdateReplacePolicy}; got != want || !retained[name] && got[0] != "" && got[0] != "Delete" {
			t.Errorf("%s: got the policies %q of deletion and replacement, want %q", name, got, want)
		}
	}
	for _, name := range []string{"Table", "Media", "Users"} {
		if got := other().Resources[name].DeletionPolicy; got != "Delete" {
			t.Errorf("%s with keepData false: got %s, want Delete", name, got)
		}
	}
}

// TestUpgrade checks that resources of existing stacks keep their names and types. With another
// name, data would stay behind and clients would lose the address. If a name gets another type,
// AWS refuses the upgrade.
func TestUpgrade(t *testing.T) {
	for id, want := range map[string]string{
		"TableCD117FA1":     "AWS::DynamoDB::Table",
		"MediaA721A567":     "AWS::S3::Bucket",
		"Users0A0EEA89":     "AWS::Cognito::UserPool",
		"ApiF70053CD":       "AWS::ApiGateway::RestApi",
		"Dashboard9E4231ED": "AWS::CloudWatch::Dashboard",
	} {
		if got := deployed().types[id]; got != want {
			t.Errorf("%s: got the type %q, want %q", id, got, want)
		}
	}
}

func TestLogs(t *testing.T) {
	groups := deployed().all("AWS::Logs::LogGroup")
	want := []string{"AccessLog", "FailedJobs", "RunnerLog", "SmallLog"}
	for _, f := range functionNames() {
		want = append(want, logical(f)+"Log")
	}
	check.Names(t, "log groups", groups, want)
	for _, name := range groups {
		deployed().check(t, []property{{name, "RetentionInDays", `30`}})
		other().check(t, []property{{name, "RetentionInDays", `7`}})
	}
}
