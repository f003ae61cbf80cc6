package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lipsync/internal/http/rest"
	"lipsync/internal/test/sharedtest"
)

// tools is the folder of the Python programs that make test installs.
const tools = ".cache/venv/bin"

// TestPythonClients_long makes every call by the clients that two generators make.
func TestPythonClients_long(t *testing.T) {
	generators := map[string][]string{
		"openapi-python-client": {"openapi-python-client", "generate", "--meta", "none", "--output-path", "lipsync_client", "--url"},
		"openapi-generator":     openAPIGenerator("python", "packageName=lipsync_client"),
	}
	for name, generator := range generators {
		t.Run(name, func(t *testing.T) {
			data, dir := t.TempDir(), t.TempDir()
			s := startServer(t, data, "--allow-private-networks", "--log-level", "debug")
			makeClient(t, s, dir, generator)
			python := exec.CommandContext(t.Context(), tool(t, tools+"/python"), "testdata/client.py",
				name, s.url, newKey(t, data), fixtures.video, fixtures.speech, receiver(t))
			python.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
			runClient(t, s, python)
		})
	}
}

// TestTypeScriptClient_long makes every call by the client that openapi-generator makes. The compiler
// checks its types.
func TestTypeScriptClient_long(t *testing.T) {
	modules := filepath.Dir(tool(t, ".cache/node/node_modules/typescript"))
	data, dir := t.TempDir(), t.TempDir()
	s := startServer(t, data, "--allow-private-networks", "--log-level", "debug")
	makeClient(t, s, dir, openAPIGenerator("typescript-fetch", "importFileExtension=.js"))
	err := errors.Join(
		os.Symlink(modules, filepath.Join(dir, "node_modules")),
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600),
		os.WriteFile(filepath.Join(dir, "client.ts"), read(t, "testdata/client.ts"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	compiler := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc",
		"--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "client.ts")
	compiler.Dir = dir
	if out, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	runClient(t, s, exec.CommandContext(t.Context(), "node", filepath.Join(dir, "client.js"),
		s.url, newKey(t, data), fixtures.video, fixtures.speech, receiver(t)))
}

// receiver returns the URL of a server that takes all events.
func receiver(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	return server.URL
}

// openAPIGenerator returns the arguments of makeClient for a language of openapi-generator.
func openAPIGenerator(language, properties string) []string {
	return []string{"openapi-generator-cli", "generate", "--generator-name", language, "--additional-properties", properties,
		"--global-property", "apis,models,supportingFiles,apiDocs=false,modelDocs=false,apiTests=false,modelTests=false", "--input-spec"}
}

// makeClient makes a client in a folder, by a generator that takes the URL of the document that the
// server serves as its last argument.
func makeClient(t *testing.T, s *server, dir string, generator []string) {
	t.Helper()
	made := exec.CommandContext(t.Context(), tool(t, tools+"/"+generator[0]), append(generator[1:], s.url+"/api/openapi.json")...)
	made.Dir = dir
	made.Env = append(os.Environ(), "JAVA_OPTS=-XX:TieredStopAtLevel=1") // so a short program ends sooner
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// runClient runs a program that makes every call of the API, stops the server, and looks in its
// log for each call.
func runClient(t *testing.T, s *server, program *exec.Cmd) {
	t.Helper()
	if out, err := program.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
	for _, e := range rest.Endpoints() {
		if call := "method=" + e.Method + " route=" + rest.Base + e.Path + " status=200 "; len(s.log.with(call)) == 0 {
			t.Errorf("no call with %s", call)
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
