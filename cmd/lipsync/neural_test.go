package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/cmd/lipsync/internal/models"
	"lipsync/internal/network/catalog"
	"lipsync/internal/render/musetalk"
	"lipsync/internal/test/onnxtest"
)

// serveWith returns the options of a server with a network of the Wav2Lip kind.
func serveWith(t *testing.T, g onnxtest.Graph) []string {
	t.Helper()
	onnxtest.Runtime(t)
	models, file := t.TempDir(), filepath.Join(t.TempDir(), "test.onnx")
	g.Write(t, file)
	if _, err := catalog.Add(models, catalog.Model{Role: catalog.Wav2Lip}, file); err != nil {
		t.Fatal(err)
	}
	return []string{"--workers", "1", "--models", models, "--onnxruntime", onnxtest.Library(t)}
}

// startWith starts a job of the fixtures with an engine.
func (c testClient) startWith(t *testing.T, engine string) string {
	t.Helper()
	return c.begin(t, map[string]any{
		"model":  engine,
		"inputs": inputs(c.upload(t, "video", fixtures.video), c.upload(t, "audio", fixtures.speech)),
	})
}

// TestServeModel renders with a network. The next server lacks that network: the requests for it
// fail, and all others go on.
func TestServeModel(t *testing.T) {
	data, with := t.TempDir(), serveWith(t, onnxtest.AsItIs())
	s := startServer(t, data, with...)
	c := testClient{s.url, newKey(t, data)}
	if got := s.log.with(`msg="a model is ready" role=wav2lip file=test.onnx provider=`); len(got) != 1 {
		t.Errorf("the log tells %d times of the model: %q", len(got), s.log.with(""))
	}
	r := c.wait(t, c.startWith(t, "wav2lip"))
	if r.Status != "completed" {
		t.Fatalf("got %+v, want it completed", r)
	}
	output := filepath.Join(t.TempDir(), "output.mp4")
	if err := c.download(t.Context(), r.OutputURL, output); err != nil {
		t.Fatal(err)
	}
	wantVideo(t, output, "480,270,25/1,15")

	lost, other := c.startWith(t, "wav2lip"), c.startWith(t, "warp")
	s.kill()
	s = startServer(t, data, "--workers", "1")
	c.base = s.url
	if r := c.wait(t, lost); r.Status != "failed" || r.ErrorMessage != `model "wav2lip" is not installed` {
		t.Errorf("without its model: got %+v", r)
	}
	if r := c.wait(t, other); r.Status != "completed" {
		t.Errorf("of warp: got %+v, want it completed", r)
	}
}

// TestServeBadModel starts a server with a model that can't be used. The server starts, except if
// that model is the default.
func TestServeBadModel(t *testing.T) {
	data, with := t.TempDir(), serveWith(t, onnxtest.Graph{})
	s := startServer(t, data, with...)
	c := testClient{s.url, newKey(t, data)}
	if got := s.log.with("level=ERROR"); len(got) != 1 || !strings.Contains(got[0], "role=wav2lip file=test.onnx error=") {
		t.Errorf("logged %q", got)
	}
	if r := c.wait(t, c.startWith(t, "warp")); r.Status != "completed" {
		t.Errorf("got %+v, want it completed", r)
	}
	_, said, status := command(t, append([]string{"serve", "--data", t.TempDir(), "--addr=127.0.0.1:0", "--engine=wav2lip"}, with...)...)
	if status != failed || !strings.Contains(said, "lipsync: the engine wav2lip cannot be used: the model test.onnx cannot be used: it has no inputs or no outputs") {
		t.Errorf("as the default: got status %d, %q", status, said)
	}
}

// TestServeMuseTalk serves the engine musetalk as the default.
func TestServeMuseTalk(t *testing.T) {
	onnxtest.Runtime(t)
	data, models := t.TempDir(), t.TempDir()
	for _, role := range musetalk.Roles() {
		file := filepath.Join(t.TempDir(), string(role)+".onnx")
		onnxtest.MuseTalkGrey(string(role)).Write(t, file)
		if _, err := catalog.Add(models, catalog.Model{Role: role}, file); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, data, "--workers", "1", "--models", models, "--onnxruntime", onnxtest.Library(t), "--engine", "musetalk")
	c := testClient{s.url, newKey(t, data)}
	if got := s.log.with(`msg="a model is ready" role=musetalk`); len(got) != 4 {
		t.Errorf("the log tells %d times of models: %q", len(got), s.log.with(""))
	}
	r := c.wait(t, c.begin(t, map[string]any{"inputs": inputs(c.upload(t, "video", fixtures.video), c.upload(t, "audio", fixtures.speech))}))
	if r.Status != "completed" {
		t.Fatalf("got %+v, want it completed", r)
	}
}

// TestCancelNetwork cancels a request while its network computes, which would never end. It stops the
// server during another such request.
func TestCancelNetwork(t *testing.T) {
	data, with := t.TempDir(), serveWith(t, onnxtest.Endless())
	s := startServer(t, data, with...)
	c := testClient{s.url, newKey(t, data)}
	id := c.startWith(t, "wav2lip")
	c.waitPainting(t, id)
	if got := c.cancel(t, id); got.Status != "failed" || got.ErrorMessage != "canceled by the client" {
		t.Errorf("got %+v, want it canceled", got)
	}
	s.waitLog(t, `msg="stopped`, 5*time.Second)
	if r := c.wait(t, c.startWith(t, "warp")); r.Status != "completed" {
		t.Errorf("next: got %+v, want it completed", r)
	}
	s.waitLog(t, "msg=completed", 5*time.Second)
	s.wantNothingOf(t, id)
	c.waitPainting(t, c.startWith(t, "wav2lip"))
	if err := s.stop(t); err != nil {
		t.Errorf("stop: %v, log %q", err, s.log.with(""))
	}
}

// waitPainting waits until the service has analysed all of a request's video, and makes the mouths.
func (c testClient) waitPainting(t *testing.T, id string) {
	t.Helper()
	const seen = 30 // percent
	var p howFar
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		before := p
		if p = c.progress(t, id); p.Percent == seen && p == before {
			return
		}
	}
	t.Fatalf("got %+v after two minutes, want its mouths to be made", p)
}

// TestFolder checks that the default folder of models may be missing or without models, and that a
// folder that an option names may not.
func TestFolder(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	usual := defaultModels()
	want := func(folder, want string) {
		t.Helper()
		if got := (renderFlags{Flags: models.Flags{Models: folder}}).folder(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	want(usual, "")
	if err := os.MkdirAll(usual, 0o700); err != nil {
		t.Fatal(err)
	}
	want(usual, "")
	if err := os.WriteFile(filepath.Join(usual, catalog.FileName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(usual, usual)
	empty := t.TempDir()
	want(empty, empty)
}
