package conventions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/http/rest"
	"lipsync/internal/test/sharedtest"
)

// TestEndpointsDocumented wants the path of each endpoint in a page. Names in braces stand for any.
func TestEndpointsDocumented(t *testing.T) {
	root := sharedtest.Root(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("got %d pages and %v", len(pages), err)
	}
	var all strings.Builder
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	text := all.String()
	for _, e := range rest.Endpoints() {
		path := regexp.QuoteMeta(strings.TrimPrefix(e.Path, "/v1"))
		pattern := regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(path, `[^/\s]+`)
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("no page names %s %s", e.Method, e.Path)
		}
	}
}
