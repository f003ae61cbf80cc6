package templatetests

import (
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/check"
)

// TestProvenance checks who may do what with secrets: only the runner, and the function that is one, may read that of the key that signs outputs, and only if the settings name it. Its
// container gets the name of the secret only, and each function that makes requests gets to know whether all outputs must be signed.
func TestProvenance(t *testing.T) {
	const session = "DashboardPagesRoleDefaultPolicy secretsmanager:GetSecretValue SessionSecret"
	const signer = "RunnerRoleDefaultPolicy secretsmanager:GetSecretValue arn:AWS::Partition:secretsmanager:AWS::Region:AWS::AccountId:secret:lipsync/signer-??????"
	check.Names(t, "rights to secrets", deployed().secretRights(t), []string{session})
	check.Names(t, "rights to secrets", other().secretRights(t), []string{session, signer, strings.Replace(signer, "Runner", "Small", 1)})
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

// secretRights returns the rights that all policies give to secrets, each after the name of its policy. A right to everything counts.
func (t template) secretRights(tt *testing.T) (all []string) {
	tt.Helper()
	for _, policy := range t.all("AWS::IAM::Policy") {
		for _, right := range t.allowed(tt, policy) {
			if strings.HasPrefix(right, "secretsmanager:") || strings.HasPrefix(right, "*") {
				all = append(all, policy+" "+right)
			}
		}
	}
	return all
}
