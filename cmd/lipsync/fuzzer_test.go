package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestFuzzer_long compares a running service with its OpenAPI document, by schemathesis: it finds no error
// of the server, and no answer that the document lacks. It tries at most 15 random examples of each call, and
// at most 15 random sequences of calls that use each other's answers: --max-examples bounds both.
func TestFuzzer_long(t *testing.T) {
	fuzzer, folder := tool(t, ".cache/venv/bin/schemathesis"), filepath.Join(sharedtest.Root(t), "internal", "http", "rest")
	data := t.TempDir()
	// The test announces uploads of 5 GiB. Not every machine has room for them.
	s := startServer(t, data, "--generate-rate", "1000000", "--read-rate", "1000000", "--disk-reserve", "0")
	c := exec.CommandContext(t.Context(), fuzzer, "--config-file", filepath.Join(folder, "schemathesis.toml"), "run", s.url+"/api/openapi.yaml",
		"--seed", "1", "--max-examples", "15", "--continue-on-failure")
	c.Env = append(os.Environ(), "LIPSYNC_KEY="+newKey(t, data), "SCHEMATHESIS_HOOKS="+filepath.Join(folder, "schemathesis_hooks.py"))
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	if errors := s.log.with("level=ERROR"); len(errors) > 0 {
		t.Errorf("the server logged %q", errors)
	}
}
