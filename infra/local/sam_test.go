package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

// TestSAM checks that SAM's template has each function with its program and its variables, that cfn-lint takes it, and that a sample event has a key of the service.
func TestSAM(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	folder, programs := t.TempDir(), filepath.Join(fixtures.dir, "built", "functions")
	token, _, err := d.service.CreateKey(t.Context(), "sam", "sam", 0)
	check.Must(t, err)
	check.Must(t, d.writeSAM(t.Context(), folder, programs, "../../events", token))
	var template struct {
		Resources map[string]struct {
			Properties struct {
				CodeURI     string
				Environment struct{ Variables map[string]string }
			}
		}
	}
	check.Must(t, json.Unmarshal(read(t, filepath.Join(folder, "template.json")), &template))
	if len(template.Resources) != len(clientFunctions())+5 { // broker, deliver, dispatch, publish and sweep
		t.Errorf("got %d functions, want the %d of the API and 5", len(template.Resources), len(clientFunctions()))
	}
	for name, f := range template.Resources {
		if _, err := os.Stat(filepath.Join(f.Properties.CodeURI, "bootstrap")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := f.Properties.Environment.Variables["AWS_ENDPOINT_URL"]; got != *d.config.BaseEndpoint {
			t.Errorf("%s calls AWS at %q, want %s", name, got, *d.config.BaseEndpoint)
		}
	}
	if got := template.Resources["Me"].Properties.Environment.Variables["LIPSYNC_TABLE"]; got != d.Outputs["TableName"] {
		t.Errorf("Me uses the table %q, want %q", got, d.Outputs["TableName"])
	}
	if event := string(read(t, filepath.Join(folder, "events", "get-request.json"))); strings.Count(event, token) != 2 || strings.Contains(event, "lipsync_AAAA") {
		t.Errorf("got the event %s, want the key in it", event)
	}
	if out, err := exec.Command("../../.cache/venv/bin/cfn-lint", filepath.Join(folder, "template.json")).CombinedOutput(); err != nil {
		t.Errorf("cfn-lint: %v\n%s", err, out)
	}
}
