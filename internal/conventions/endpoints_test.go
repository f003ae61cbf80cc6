package conventions

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/rest"
)

// TestEndpointsNamedOnce checks that only the table of endpoints has the paths of the API. Tests
// that call the API from outside name them on purpose, and generated programs take them from the
// table.
func TestEndpointsNamedOnce(t *testing.T) {
	outside := []string{"internal/resttest/", "internal/soak/", "infra/smoke/"}
	var mentions []*regexp.Regexp
	for _, e := range rest.Endpoints() {
		path, _, _ := strings.Cut(e.Path, "{")
		mentions = append(mentions, regexp.MustCompile("(/api|[\"`' ])"+regexp.QuoteMeta(path)))
	}
	sources(t, func(path string, _ *ast.File) {
		for _, folder := range outside {
			if strings.HasPrefix(path, folder) {
				return
			}
		}
		text, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		if path == "internal/rest/endpoints.go" || strings.HasPrefix(string(text), "// Code generated ") {
			return
		}
		for n, line := range strings.Split(string(text), "\n") {
			for _, m := range mentions {
				if m.MatchString(line) {
					t.Errorf("%s:%d names a path of the API: %s", path, n+1, strings.TrimSpace(line))
					break
				}
			}
		}
	})
}
