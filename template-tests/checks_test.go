package templatetests

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNag checks that the stack follows every rule of cdk-nag, or gives a reason for an exception.
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
					t.Errorf("%s does not hold for %s, and the reason is %q", row[rule], row[resource], row[reason])
				}
			default:
				t.Errorf("%s for %s is %s: %s", row[rule], row[resource], row[compliance], row[len(row)-1])
			}
		}
		t.Logf("cdk-nag checked %d times %s", len(rows)-1, name)
	}
}

// TestLint runs cfn-lint on the template with all the settings that change it. W3005 is about dependencies that are stated although
// they are implied, as CDK does. W3010 is about zones that are named, as make deploy does for one region.
func TestLint(t *testing.T) { lint(t, other()) }

// TestLint_long runs it on the template with the default settings.
func TestLint_long(t *testing.T) { lint(t, deployed()) }

func lint(t *testing.T, tt template) {
	t.Helper()
	const linter = "../.cache/venv/bin/cfn-lint"
	if _, err := os.Stat(linter); err != nil {
		t.Skip("cfn-lint is not installed: make test installs it")
	}
	out, err := exec.Command(linter, "-i", "W3005", "W3010", "--", tt.path).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("cfn-lint: %v\n%s", err, out)
	}
}

// TestOnlyHere checks that no program of the service links CDK, which takes minutes to compile.
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

// TestLinked checks that functions link no clients of services of AWS that they don't call, and no
// libraries that are slow to start. Linked code makes their cold start slower.
func TestLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "../functions/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string][]string{} // packages by functions
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		linked[filepath.Base(words[0])] = words[1:]
	}
	for _, function := range functionNames() {
		if len(linked[function]) == 0 {
			t.Errorf("%s links nothing", function)
		}
		var told map[string]string
		deployed().read(t, logical(function), "Environment.Variables", &told)
		allowed := func(service string) bool {
			switch service {
			case "dynamodb": // used also by the reader of the stream
				return told["LIPSYNC_TABLE"] != "" || function == "publish"
			case "eventbridge":
				return told["LIPSYNC_EVENT_BUS"] != ""
			case "s3":
				return told["LIPSYNC_BUCKET"] != ""
			case "sts", "cognitoidentity": // used by the package that signs URLs, which the bucket's package needs
				return told["LIPSYNC_BUCKET"] != ""
			case "sqs": // used also by the reader of messages
				return told["LIPSYNC_QUEUE_URL"] != "" || told["LIPSYNC_DELIVERIES_URL"] != "" || function == "dispatch"
			case "batch":
				return told["LIPSYNC_JOB_QUEUE"] != ""
			case "secretsmanager":
				return told["LIPSYNC_SECRET_ARN"] != ""
			default:
				return false
			}
		}
		const sdk = "github.com/aws/aws-sdk-go-v2/"
		for _, name := range linked[function] {
			rest, isService := strings.CutPrefix(name, sdk+"service/")
			service, _, _ := strings.Cut(rest, "/")
			switch {
			case isService && service != "internal" && !allowed(service),
				name == sdk+"config", strings.Contains(name, "openapi"), strings.Contains(name, "jsonschema") && function != "mcp": // it checks the tools' arguments
				t.Errorf("%s has %s in it", function, name)
			}
		}
	}
}
