package templatetests

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadme wants each setting, named in the comment after its field, in the
// table of infra/README.md, and no other there.
func TestReadme(t *testing.T) {
	source, err := os.ReadFile("../infra/stack/settings.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../infra/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Settings\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var settings, documented []string
	for _, field := range regexp.MustCompile(`(?m)//( lipsync:.*)$`).FindAllStringSubmatch(string(source), -1) {
		settings = append(settings, strings.Split(strings.TrimPrefix(field[1], " lipsync:"), ", lipsync:")...)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, strings.Split(strings.Trim(row[1], "`"), "`, `")...)
	}
	wantNames(t, "settings of infra/README.md", documented, settings)
}
