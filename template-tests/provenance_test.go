package templatetests

import (
	"slices"
	"strings"
	"testing"
)

// TestProvenance checks that nothing but the runner may read the secret of the key that signs outputs, and only if the settings name it. Its
// container gets the name of the secret only, and each function that makes requests gets to know whether all outputs must be signed.
func TestProvenance(t *testing.T) {
	const secret = "secret:lipsync/signer-??????"
	var readers []string
	for _, name := range other().all("AWS::IAM::Policy") {
		for _, action := range other().allowed(t, name) {
			if strings.Contains(action, secret) {
				readers = append(readers, name+" "+action)
			}
		}
	}
	wantNames(t, "rights to the secret", readers, []string{
		"RunnerRoleDefaultPolicy secretsmanager:GetSecretValue arn:AWS::Partition:secretsmanager:AWS::Region:AWS::AccountId:" + secret,
	})
	for want, of := range map[string]template{"false ": deployed(), "true lipsync/signer": other()} {
		var pairs []struct{ Name, Value string }
		of.read(t, "Runner", "ContainerProperties.Environment", &pairs)
		told := map[string]string{}
		for _, p := range pairs {
			told[p.Name] = p.Value
		}
		if got := told["LIPSYNC_REQUIRE_PROVENANCE"] + " " + told["LIPSYNC_PROVENANCE_SECRET"]; got != want {
			t.Errorf("the runner: got %q, want %q", got, want)
		}
		of.check(t, []property{{"Runner", "ContainerProperties.Secrets", ""}})
		required, _, _ := strings.Cut(want, " ")
		makers := []string{"generate", "generate-with-media", "estimate", "analyze", "create-batch", "dashboard", "mcp", "sweep"}
		for _, f := range functionNames() {
			want := ""
			if slices.Contains(makers, f) {
				want = `"` + required + `"`
			}
			of.check(t, []property{{logical(f), "Environment.Variables.LIPSYNC_REQUIRE_PROVENANCE", want}})
		}
	}
}
