package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/sharedtest"
)

// TestPythonClient generates a Python client from the OpenAPI document of a server, and makes every
// call with it.
func TestPythonClient(t *testing.T) {
	generator := tool(t, ".cache/venv/bin/openapi-python-client")
	data, dir := t.TempDir(), t.TempDir()
	s := startServer(t, data)
	made := exec.CommandContext(t.Context(), generator, "generate", "--url", s.url+"/api/openapi.json", "--meta", "none",
		"--output-path", filepath.Join(dir, "lip_sync_service_client"))
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	python := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(generator), "python"), "testdata/client.py",
		s.url, newKey(t, data), fixtures.video, fixtures.speech)
	python.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := python.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "every call was made\n") {
		t.Errorf("got %s (%v)", out, err)
	}
}

// TestTypeScriptClient generates the types of a TypeScript client from the OpenAPI document of a
// server, checks the types of a program with it, and makes every call with it.
func TestTypeScriptClient(t *testing.T) {
	modules := filepath.Dir(tool(t, ".cache/node/node_modules/openapi-typescript"))
	data, dir := t.TempDir(), t.TempDir()
	s := startServer(t, data)
	err := errors.Join(
		os.Symlink(modules, filepath.Join(dir, "node_modules")),
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600),
		os.WriteFile(filepath.Join(dir, "client.ts"), read(t, "testdata/client.ts"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"node_modules/openapi-typescript/bin/cli.js", s.url + "/api/openapi.json", "-o", "api.ts"},
		{"node_modules/typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "client.ts"},
		{"client.js", s.url, newKey(t, data), fixtures.video, fixtures.speech},
	} {
		node := exec.CommandContext(t.Context(), "node", args...)
		node.Dir = dir
		out, err := node.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", args[0], err, out)
		}
		if args[0] == "client.js" && !strings.HasSuffix(string(out), "every call was made\n") {
			t.Errorf("got %s", out)
		}
	}
}

// tool returns the path of a tool that make test installs. It skips the test if the tool is missing.
func tool(t *testing.T, path string) string {
	t.Helper()
	found := filepath.Join(sharedtest.Root(t), path)
	if _, err := os.Stat(found); err != nil {
		t.Skipf("%s is not installed: make test does that", filepath.Base(path))
	}
	return found
}
