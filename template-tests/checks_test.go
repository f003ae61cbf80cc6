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
