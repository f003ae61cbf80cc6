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

// These find calls of the API in a line of a page: as "METHOD /path" or "/api/path", and in an example for the shell, where $API has the base and the
// version.
var (
	namedCall  = regexp.MustCompile("(?:(GET|POST|DELETE) )?(\\$API|/api|GET |POST |DELETE )(/[^\\s\"'`?)|]*)")
	methodOf   = regexp.MustCompile(`-X ([A-Z]+) `)
	withBody   = regexp.MustCompile(` (-d|-F|--data-binary) `)
	anyElement = regexp.MustCompile(`\\\{[a-z]+\\\}`)
)

// callsIn returns the methods and paths of the calls that a page names.
func callsIn(page string) (calls []string) {
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		for _, m := range namedCall.FindAllStringSubmatch(line, -1) {
			method, base, path := m[1], m[2], strings.TrimRight(m[3], ".,:;")
			switch said := methodOf.FindStringSubmatch(line); {
			case base == "$API" && said != nil:
				method = said[1]
			case base == "$API" && withBody.MatchString(line):
				method = "POST"
			case strings.HasSuffix(base, " "):
				method = strings.TrimSpace(base)
			case method == "":
				method = "GET"
			}
			if base == "$API" {
				path = "/v1" + path
			}
			calls = append(calls, method+" "+path)
		}
	}
	return calls
}

// TestEndpointsDocumented wants each endpoint, by its method and its whole path, in a page. Names in braces stand for any.
func TestEndpointsDocumented(t *testing.T) {
	root := sharedtest.Root(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("got %d pages and %v", len(pages), err)
	}
	var calls []string
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, callsIn(string(text))...)
	}
	all := strings.Join(calls, "\n")
	for _, e := range rest.Endpoints() {
		path := anyElement.ReplaceAllString(regexp.QuoteMeta(e.Path), `[^/\s]+`)
		if !regexp.MustCompile(`(?m)^` + e.Method + " " + path + "$").MatchString(all) {
			t.Errorf("no page names %s %s", e.Method, e.Path)
		}
	}
}

// TestCallsIn reads lines of pages.
func TestCallsIn(t *testing.T) {
	for line, want := range map[string]string{
		"Ask `GET /v1/lipsync/things`, or":                "GET /v1/lipsync/things",
		"`DELETE /api/v1/things/{id}/media`, or":          "DELETE /v1/things/{id}/media",
		"It is at `/api/guide.md`.":                       "GET /guide.md",
		"one=$(call $API/things/$thing/parts)":            "GET /v1/things/$thing/parts",
		`call "$API/things?limit=20" # all`:               "GET /v1/things",
		"call -X POST $API/things/first/test  # tests":    "POST /v1/things/first/test",
		"call -H 'A: b' $API/things \\\n -d '{\"a\": 1}'": "POST /v1/things",
		"internal/things/publish.go":                      "",
	} {
		if got := strings.Join(callsIn(line), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
