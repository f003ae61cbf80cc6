package resttest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/version"
)

// protected returns a call of each endpoint that needs a key, by the document that the service serves.
func (s *suite) protected(t *testing.T) (all []call) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(s.get(t, "", "/openapi.json").body, &document); err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Paths {
		delete(item, "parameters")
		for method, text := range item {
			var operation struct{ Security []any }
			if err := json.Unmarshal(text, &operation); err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			if operation.Security == nil { // otherwise it is empty: the endpoint needs no key
				all = append(all, call{method: strings.ToUpper(method), path: strings.NewReplacer("{id}", "x", "{delivery}", "x").Replace(path)})
			}
		}
	}
	if len(all) < 25 {
		t.Fatalf("got %d endpoints with a key, want more", len(all))
	}
	slices.SortFunc(all, func(a, b call) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return all
}

func (s *suite) routes(t *testing.T) {
	t.Run("health", func(t *testing.T) {
		var got struct{ Status string }
		answer := s.get(t, "", "/health")
		answer.into(t, &got)
		if got.Status != "ok" {
			t.Errorf("got status %q, want ok", got.Status)
		}
		if got := answer.header.Get("Lipsync-Version"); !strings.HasPrefix(got, version.Number) {
			t.Errorf("got version %q, want %s", got, version.Number)
		}
	})
	t.Run("document", func(t *testing.T) {
		got := s.get(t, "", "/openapi.yaml")
		if got.status != http.StatusOK || !bytes.HasPrefix(got.body, []byte("openapi: 3.1")) {
			t.Errorf("got %d %.40q…, want 200 and an OpenAPI 3.1 document", got.status, got.body)
		}
	})
	t.Run("document as JSON", func(t *testing.T) {
		var got struct{ OpenAPI string }
		answer := s.get(t, "", "/openapi.json")
		if err := json.Unmarshal(answer.body, &got); err != nil || answer.status != http.StatusOK || !strings.HasPrefix(got.OpenAPI, "3.1") {
			t.Errorf("got %d %.40q… (%v), want 200 and an OpenAPI 3.1 document", answer.status, answer.body, err)
		}
	})
	t.Run("pages", func(t *testing.T) {
		for path, want := range map[string][2]string{
			"/llms.txt": {"text/plain; charset=utf-8", "# Lip Sync Service\n\n> An HTTP API"},
			"/guide.md": {"text/markdown; charset=utf-8", "# API guide\n"},
		} {
			got := s.get(t, "", path)
			if got.status != http.StatusOK || got.header.Get("Content-Type") != want[0] || !strings.HasPrefix(string(got.body), want[1]) {
				t.Errorf("%s: got %d, %s, %.60q…, want 200, %s, %q", path, got.status, got.header.Get("Content-Type"), got.body, want[0], want[1])
			}
		}
	})
	t.Run("unknown path", s.unknownPaths)
	t.Run("wrong method", s.wrongMethods)
	t.Run("HEAD", func(t *testing.T) {
		got := s.do(t, call{method: http.MethodHead, path: "/v1/users/me", token: s.key(t)})
		if got.status != http.StatusOK || len(got.body) != 0 {
			t.Errorf("got %d with %d bytes, want 200 with none", got.status, len(got.body))
		}
	})
}

// noPath is the sentence for a path that the API doesn't have.
const noPath = "not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"

func (s *suite) unknownPaths(t *testing.T) {
	token := s.key(t)
	for _, path := range []string{
		"/nothing", "/v1", "/v2/users/me", "/health/", "/v1/users/me/", "/v1/lipsync/requests/",
		"/v1/lipsync/requests/x/y", "//health", "/v1//users/me",
	} {
		s.run(t, path, func(t *testing.T) {
			s.get(t, token, path).refused(t, http.StatusNotFound, noPath)
		})
	}
}

func (s *suite) wrongMethods(t *testing.T) {
	allowed := map[string][]string{}
	for _, c := range append(s.protected(t), call{method: http.MethodGet, path: "/health"}) {
		allowed[c.path] = append(allowed[c.path], c.method)
		if c.method == http.MethodGet {
			allowed[c.path] = append(allowed[c.path], http.MethodHead)
		}
	}
	token := s.key(t)
	for path, want := range allowed {
		want = append(want, http.MethodOptions)
		slices.Sort(want)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
			if slices.Contains(want, method) && method != http.MethodOptions || !s.tries(method+path) {
				continue
			}
			t.Run(method+path, func(t *testing.T) {
				got := s.do(t, call{method: method, path: path, token: token})
				if method != http.MethodOptions {
					got.refused(t, http.StatusMethodNotAllowed, "method not allowed")
				} else if got.status != http.StatusNoContent || len(got.body) > 0 {
					t.Errorf("got %d %s, want 204 without a body", got.status, got.body)
				}
				if allow := strings.Split(got.header.Get("Allow"), ", "); !slices.Equal(allow, want) {
					t.Errorf("got Allow %q, want %q", allow, want)
				}
			})
		}
	}
}
