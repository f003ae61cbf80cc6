package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAssistant lets a client of another maker use the tools: on standard input and output, and on the service's own server.
func TestAssistant(t *testing.T) {
	python := tool(t, tools+"/python")
	if exec.Command(python, "-c", "import mcp").Run() != nil {
		t.Skip("mcp is not installed: make test does that")
	}
	data, output := t.TempDir(), filepath.Join(t.TempDir(), "output.mp4")
	s := startServer(t, data)
	key := newKey(t, data)
	c := exec.CommandContext(t.Context(), python, "testdata/agent.py", fixtures.program, s.url, key, fixtures.video, fixtures.long, output)
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	said, err := c.CombinedOutput()
	text := string(said)
	t.Log(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"tools: analyze, cancel, cancel_batch, create, create_batch, estimate, get, get_batch, list\n", "sending the video 100 of 100\n", `"status":"completed"`, `"saved_to":"` + output + `"`,
		"error: lipsync request is already finished\n", `error: options has no field "mode"; it has: sync_mode`,
		"tools: analyze, cancel, cancel_batch, create, create_batch, estimate, get, get_batch, list, upload\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q", want)
		}
	}
	if strings.Contains(text, key) {
		t.Error("the key is in the transcript")
	}
	wantVideo(t, output, "480,270,25/1,50")
	if out, said, status := command(t, "mcp"); status != failed || out != "" || !strings.Contains(said, "there is no API key") {
		t.Errorf("without a key: got status %d, %q, %q", status, out, said)
	}
}
