package templatetests

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNag wants every rule of cdk-nag to hold, or to have a reason why not.
func TestNag(t *testing.T) {
	for name, tt := range map[string]template{"Lipsync": deployed(), "Trial": other()} {
		file, err := os.Open(filepath.Join(filepath.Dir(tt.path), "AwsSolutions-"+name+"-NagReport.csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("got %d rows, then %v", len(rows), err)
		}
		const rule, resource, compliance, reason = 0, 1, 2, 3
		for _, row := range rows[1:] {
			switch row[compliance] {
			case "Compliant":
			case "Suppressed":
				if len(row[reason]) < 20 {
					t.Errorf("%s does not hold for %s for no good reason: %q", row[rule], row[resource], row[reason])
				}
			default:
				t.Errorf("%s for %s is %s: %s", row[rule], row[resource], row[compliance], row[len(row)-1])
			}
		}
		t.Logf("cdk-nag looked %d times at %s", len(rows)-1, name)
	}
}

// TestLint has cfn-lint look at the templates. W3005 is about dependencies that
// are named though they are implied, which is how CDK writes them.
func TestLint(t *testing.T) {
	const linter = "../.cache/venv/bin/cfn-lint"
	if _, err := os.Stat(linter); err != nil {
		t.Skip("cfn-lint is not there: make test installs it")
	}
	for _, tt := range []template{deployed(), other()} {
		out, err := exec.Command(linter, "-i", "W3005", "--", tt.path).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("cfn-lint: %v\n%s", err, out)
		}
	}
}

// TestOnlyHere keeps CDK, which takes minutes to compile, out of all programs.
func TestOnlyHere(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../cmd/...", "../functions/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if strings.Contains(name, "/aws-cdk-go/") || strings.Contains(name, "/jsii-runtime-go") {
			t.Errorf("a program has %s in it", name)
		}
	}
}

// TestLinked keeps out of functions what they don't call, since all of it is part of their
// cold start: clients of other services of AWS, and libraries that take long to start.
func TestLinked(t *testing.T) {
	for _, function := range functionNames() {
		out, err := exec.Command("go", "list", "-deps", "../functions/"+function).Output()
		if err != nil {
			t.Fatal(err)
		}
		var told map[string]string
		deployed().read(t, logical(function), "Environment.Variables", &told)
		allowed := func(service string) bool {
			switch service {
			case "dynamodb":
				return told["LIPSYNC_TABLE"] != ""
			case "s3":
				return told["LIPSYNC_BUCKET"] != ""
			case "sts", "cognitoidentity": // of the package that signs URLs, and is that of the bucket
				return told["LIPSYNC_BUCKET"] != ""
			case "sqs": // of what reads messages, too
				return told["LIPSYNC_QUEUE_URL"] != "" || function == "dispatch"
			case "batch":
				return told["LIPSYNC_JOB_QUEUE"] != ""
			case "secretsmanager":
				return told["LIPSYNC_SECRET_ARN"] != ""
			default:
				return false
			}
		}
		const sdk = "github.com/aws/aws-sdk-go-v2/"
		for name := range strings.FieldsSeq(string(out)) {
			rest, isService := strings.CutPrefix(name, sdk+"service/")
			service, _, _ := strings.Cut(rest, "/")
			switch {
			case isService && service != "internal" && !allowed(service),
				name == sdk+"config", strings.Contains(name, "openapi"), strings.Contains(name, "jsonschema"):
				t.Errorf("%s has %s in it", function, name)
			}
		}
	}
}
