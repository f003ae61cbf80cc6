package browsertest

import (
	"os"
	"testing"
)

// readAxe returns the script of axe-core, whose path is LIPSYNC_AXE; "" if there is none.
func readAxe(t testing.TB) string {
	t.Helper()
	path := os.Getenv("LIPSYNC_AXE")
	if path == "" {
		t.Log("LIPSYNC_AXE is not set: nothing is checked by axe-core")
		return ""
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// Problems returns the problems that people with disabilities have with the page, as far as axe-core calls them serious or critical. Without
// axe-core it returns none. Rules whose problems are all lighter aren't tried.
func (b *Browser) Problems() []string {
	b.t.Helper()
	axe := b.axe()
	if axe == "" {
		return nil
	}
	return Eval[[]string](b, axe+`;
		((heavy) => axe.run({ resultTypes: ["violations"], rules: Object.fromEntries(
			axe._audit.rules.filter((r) => r.impact && !heavy(r.impact)).map((r) => [r.id, { enabled: false }])) })
			.then((found) => found.violations.filter((v) => heavy(v.impact)).flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html)))
		)((impact) => ["serious", "critical"].includes(impact))`)
}
