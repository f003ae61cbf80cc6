package conventions

import (
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/http/rest"
)

// TestEndpointsNamedOnce checks that only the table of endpoints has the paths of the API. Tests
// that call the API from outside name them on purpose, and generated programs take them from the
// table.
func TestEndpointsNamedOnce(t *testing.T) {
	outside := []string{"internal/test/resttest/", "internal/test/soak/", "infra/smoke/"}
	var paths []string
	for _, e := range rest.Endpoints() {
		path, _, _ := strings.Cut(e.Path, "{")
		paths = append(paths, regexp.QuoteMeta(path))
	}
	mention := regexp.MustCompile("(/api|[\"`' ])(" + strings.Join(paths, "|") + ")")
	sourceLines(t, func(path string, lines []string) {
		for _, folder := range outside {
			if strings.HasPrefix(path, folder) {
				return
			}
		}
		if path == "internal/http/rest/endpoints.go" || strings.HasPrefix(lines[0], "// Code generated ") {
			return
		}
		for n, line := range lines {
			if mention.MatchString(line) {
				t.Errorf("%s:%d names a path of the API: %s", path, n+1, strings.TrimSpace(line))
			}
		}
	})
}
