package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lipsync/internal/http/rest"
	"lipsync/internal/test/sharedtest"
)

// TestPrograms checks that the programs in the repository are those that the tables give.
func TestPrograms(t *testing.T) {
	files, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join(sharedtest.Root(t), name)
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what go generate ./internal/http/rest writes (%v)", path, err)
		}
	}
}

// TestAddSamples checks the sample event that a function without one gets.
func TestAddSamples(t *testing.T) {
	root := t.TempDir()
	text, err := os.ReadFile(filepath.Join(sharedtest.Root(t), "events", "me.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(root, "events"), 0o755), os.WriteFile(filepath.Join(root, "events", "me.json"), text, 0o644)); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	if err := addSamples(root, files); err != nil {
		t.Fatal(err)
	}
	var got events.APIGatewayProxyRequest
	if err := json.Unmarshal(files["events/delete-media.json"], &got); err != nil {
		t.Fatal(err)
	}
	id := got.PathParameters["id"]
	path := strings.ReplaceAll(got.Resource, "{id}", id)
	if got.HTTPMethod != "DELETE" || id == "" || !strings.Contains(got.Resource, "{id}") || got.Path != path || got.RequestContext.Path != rest.Base+path ||
		got.RequestContext.ResourcePath != got.Resource || files["events/me.json"] != nil {
		t.Errorf("got %+v", got)
	}
}

// TestFunctions checks that only endpoints with the same needs share a function, and that those without
// a key share the function health.
func TestFunctions(t *testing.T) {
	seen := map[string]rest.Endpoint{}
	for _, e := range rest.Endpoints() {
		other, shared := seen[e.Function]
		if open := e.Calls == ""; open != (e.Function == "health") || shared && (other.Calls != e.Calls || !slices.Equal(other.Needs, e.Needs)) {
			t.Errorf("%s %s has the function %s, which is another one's", e.Method, e.Path, e.Function)
		}
		seen[e.Function] = e
	}
}

// TestSampleEvents checks that each function has a sample event, which make bench-aws sends. The
// event of a function of the API must be a call of its endpoint, or of the first one of several.
func TestSampleEvents(t *testing.T) {
	first := map[string]rest.Endpoint{}
	for _, e := range slices.Backward(rest.Endpoints()) {
		first[e.Function] = e
	}
	root := sharedtest.Root(t)
	programs, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		text, err := os.ReadFile(filepath.Join(root, "events", program.Name()+".json"))
		if err != nil {
			t.Errorf("the function %s has no sample event: %v", program.Name(), err)
			continue
		}
		e, ofAPI := first[program.Name()]
		if !ofAPI {
			continue
		}
		var got events.APIGatewayProxyRequest
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got.HTTPMethod != e.Method || got.Resource != e.Path {
			t.Errorf("the sample event of %s is of %s %s, want %s %s", e.Function, got.HTTPMethod, got.Resource, e.Method, e.Path)
		}
	}
}
