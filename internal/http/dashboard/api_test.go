package dashboard

import (
	"maps"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestCommonAnswers checks that each call with a key may get the common answers, or lists an answer of
// the same status, as the page says.
func TestCommonAnswers(t *testing.T) {
	var doc openAPI
	if err := yaml.Unmarshal(document(t), &doc); err != nil {
		t.Fatal(err)
	}
	var statuses []string
	for _, r := range doc.common() {
		statuses = append(statuses, r.Status)
	}
	slices.Sort(statuses)
	if want := []string{"401", "429", "500"}; !slices.Equal(statuses, want) {
		t.Errorf("got %q, want %q", statuses, want)
	}
	var open []string // calls without a key
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if !op.needsKey() {
				open = append(open, path)
				continue
			}
			for _, status := range statuses {
				if _, ok := op.Responses[status]; !ok {
					t.Errorf("%s %s has no answer %s", method, path, status)
				}
			}
		}
	}
	slices.Sort(open)
	if want := []string{"/guide.md", "/health", "/llms.txt", "/openapi.json", "/openapi.yaml"}; !slices.Equal(open, want) {
		t.Errorf("without a key: got %q, want %q", open, want)
	}
}

// TestOwnAnswers checks that no call lists a status twice, and that only the calls that add open
// requests list a common status.
func TestOwnAnswers(t *testing.T) {
	ref, err := parseDocument(document(t))
	if err != nil {
		t.Fatal(err)
	}
	limited := map[string]bool{}
	for _, g := range ref.Groups {
		for _, o := range g.Operations {
			seen := map[string]bool{}
			for _, r := range o.Responses {
				if seen[r.Status] {
					t.Errorf("%s lists %s twice", o.Path, r.Status)
				}
				seen[r.Status] = true
			}
			if seen["401"] || seen["500"] {
				t.Errorf("%s lists what is common: %v", o.Path, seen)
			}
			limited[o.Path] = limited[o.Path] || seen["429"]
		}
	}
	maps.DeleteFunc(limited, func(_ string, listed bool) bool { return !listed })
	want := []string{"/v1/lipsync/analyze", "/v1/lipsync/batches", "/v1/lipsync/estimate", "/v1/lipsync/generate", "/v1/lipsync/generate-with-media"}
	if got := slices.Sorted(maps.Keys(limited)); !slices.Equal(got, want) {
		t.Errorf("calls that list 429: got %q, want %q", got, want)
	}
}
