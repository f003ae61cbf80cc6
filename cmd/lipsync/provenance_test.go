package main

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/test/c2patest"
)

// TestProvenance has a server that signs outputs. Another program reads the manifest of an output. An output in WebM can't have one.
func TestProvenance(t *testing.T) {
	c2patest.Install(t)
	certificate, key := c2patest.Certificate(t)
	data := t.TempDir()
	flags := []string{"--provenance-certificate", certificate, "--provenance-key", key}
	s := startServer(t, data, flags...)
	c := testClient{s.url, newKey(t, data)}
	for format, want := range map[string]string{"mp4": `"warnings":[],"provenance":"c2pa"`, "webm": "output has no signed provenance"} {
		id := c.begin(t, map[string]any{"output": map[string]any{"format": format}, "inputs": []any{
			map[string]any{"type": "video", "url": c.upload(t, "video", fixtures.video)},
			map[string]any{"type": "audio", "url": c.upload(t, "audio", fixtures.speech)},
		}})
		r := c.wait(t, id)
		var details json.RawMessage
		if err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/requests/"+id+"/details", "", nil, &details); err != nil {
			t.Fatal(err)
		}
		if got := string(details); r.Status != "completed" || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, details %s, want %s", format, r.Status, got, want)
		}
		if format == "webm" {
			continue
		}
		path := filepath.Join(t.TempDir(), "output.mp4")
		if err := c.download(t.Context(), r.OutputURL, path); err != nil {
			t.Fatal(err)
		}
		if m := c2patest.Read(t, path); !m.Valid || len(m.Actions) != 1 {
			t.Errorf("got the manifest %+v", m)
		}
	}
	if lines := s.log.with("BEGIN"); len(lines) > 0 {
		t.Errorf("the log has %q", lines)
	}
	if err := s.stop(t); err != nil {
		t.Error(err)
	}

	c.base = startServer(t, data, append(flags, "--require-provenance")...).url
	body := `{"output":{"format":"webm"},"inputs":[{"type":"video","url":"https://a.example/v"},{"type":"audio","url":"https://a.example/a"}]}`
	if got := c.status(t, http.MethodPost, "/lipsync/generate", body); got != http.StatusBadRequest {
		t.Errorf("got status %d for WebM, want %d", got, http.StatusBadRequest)
	}
}

// TestProvenanceRefused starts servers that can't sign. They don't even try to open their port, which another one has.
func TestProvenanceRefused(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	certificate, key := c2patest.Certificate(t)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--provenance-certificate", certificate, "--provenance-key", key}, "outputs can't be signed: c2patool is not in PATH"},
		{[]string{"--provenance-certificate", certificate}, "--provenance-certificate and --provenance-key belong together"},
		{[]string{"--require-provenance"}, "--require-provenance needs --provenance-certificate and --provenance-key"},
	} {
		_, said, status := command(t, append([]string{"serve", "--data", t.TempDir(), "--addr", other.Addr().String()}, c.flags...)...)
		if status != failed || !strings.HasPrefix(said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:], "lipsync: "+c.want) {
			t.Errorf("%q: got status %d, %q, want %d, %q", c.flags, status, said, failed, c.want)
		}
	}
}
