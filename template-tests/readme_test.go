package templatetests

import (
	"os"
	"regexp"
	"strings"
	"testing"

	rows "lipsync/internal/settings"
)

// TestReadme wants each setting of the stack in the
// table of infra/README.md, and no other there.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../infra/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Settings\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var settings, documented []string
	for _, e := range rows.At(rows.Stack) {
		settings = append(settings, strings.TrimPrefix(e.Line().Context(), rows.Prefix))
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, strings.Split(strings.Trim(row[1], "`"), "`, `")...)
	}
	wantNames(t, "settings of infra/README.md", documented, settings)
}
