package reference

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
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
	ref, err := Parse(document(t))
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
			if !o.Keyed { // they have no common answers
				continue
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

func document(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../rest/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"": "[]", "a\nb\n\nc": "[[{a b false false}] [{c false false}]]",
		"use `x` **now**.": "[[{use  false false} {x true false} {  false false} {now false true} {. false false}]]",
		"an * and `half":   "[[{an * and `half false false}]]",
	} {
		if got := fmt.Sprint(Prose(text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestSamples makes a command line of each call, with all that the call needs.
func TestSamples(t *testing.T) {
	ref, err := Parse(document(t))
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{}
	for _, g := range ref.Groups {
		for _, o := range g.Operations {
			samples[o.ID] = o.Sample("http://h/api")
		}
	}
	for id, want := range map[string]string{
		"health":            "curl http://h/api/health",
		"getRequest":        "curl http://h/api/v1/lipsync/requests/$id \\\n  -H \"Authorization: Bearer $LIPSYNC_KEY\"",
		"cancelRequest":     "curl -X DELETE http://h/api/v1/lipsync/requests/$id \\\n  -H \"Authorization: Bearer $LIPSYNC_KEY\"",
		"generateWithMedia": "curl http://h/api/v1/lipsync/generate-with-media \\\n  -H \"Authorization: Bearer $LIPSYNC_KEY\" \\\n  -F audio=@audio \\\n  -F video=@video",
	} {
		if samples[id] != want {
			t.Errorf("%s: got %s, want %s", id, samples[id], want)
		}
	}
	if got := samples["generate"]; !strings.HasPrefix(got, "curl http://h/api/v1/lipsync/generate \\\n") || !strings.Contains(got, "-d '{") {
		t.Errorf("generate: got %s", got)
	}
}
