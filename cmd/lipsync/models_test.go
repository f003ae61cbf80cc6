package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/onnx"
	"lipsync/internal/onnx/onnxtest"
)

// detector is a network with the shapes of a face detector.
func detector() onnxtest.Graph {
	picture := onnx.Info{Name: "picture", Type: onnx.Float32, Shape: []int{1, 3, 2, 4}}
	return onnxtest.Graph{
		Inputs: []onnx.Info{picture},
		Outputs: []onnx.Info{
			{Name: "scores", Type: onnx.Float32, Shape: []int{1, -1, 2}},
			{Name: "boxes", Type: onnx.Float32, Shape: []int{1, -1, 4}},
		},
		Initializers: []onnxtest.Tensor{
			{Name: "pairs", Shape: []int{3}, Ints: []int64{1, -1, 2}},
			{Name: "fours", Shape: []int{3}, Ints: []int64{1, -1, 4}},
		},
		Nodes: []onnxtest.Node{
			{Op: "Reshape", Inputs: []string{"picture", "pairs"}, Outputs: []string{"scores"}},
			{Op: "Reshape", Inputs: []string{"picture", "fours"}, Outputs: []string{"boxes"}},
		},
	}
}

func TestModels(t *testing.T) {
	onnxtest.Runtime(t)
	dir := filepath.Join(t.TempDir(), "models")
	flags := []string{"--models", dir, "--onnxruntime", onnxtest.Library(t)}
	models := func(args ...string) (stdout, stderr string, status int) {
		t.Helper()
		return command(t, slices.Concat([]string{"models"}, args, flags)...)
	}
	file := filepath.Join(t.TempDir(), "faces.onnx")
	detector().Write(t, file)

	if _, said, status := models("check"); status != failed || !strings.Contains(said, "lipsync models add") {
		t.Errorf("no folder: got %q, status %d", said, status)
	}
	if _, said, status := models("add", "wav2lip", file); status != failed || !strings.Contains(said, "a model of the role wav2lip takes") {
		t.Errorf("another role: got %q, status %d", said, status)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("what was refused left a folder")
	}
	if _, said, status := models("add", "face-detector", file, "--licence", "our own"); status != ok {
		t.Fatalf("add: got %q, status %d", said, status)
	}
	out, said, status := models("check")
	for _, want := range []string{"face-detector", "faces.onnx", "our own", "ok", "yes", "picture float32 1×3×2×4", "boxes float32 1×n×4"} {
		if !strings.Contains(out, want) {
			t.Errorf("check does not tell %q: %s", want, out)
		}
	}
	if said != "" || status != ok {
		t.Errorf("check: got %q, status %d", said, status)
	}

	if err := os.WriteFile(filepath.Join(dir, "faces.onnx"), []byte("spoiled"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, said, status = models("check", "--json")
	var list []modelJSON
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
		t.Fatalf("got %s: %v", out, err)
	}
	if m := list[0]; m.Digest || m.Loads || !strings.Contains(m.Problem, "SHA-256 differs") || status != failed || said != "lipsync: of 1 models 1 cannot be used\n" {
		t.Errorf("spoiled: got %+v, %q, status %d", m, said, status)
	}
	if _, said, status = models("add", "face-detector", filepath.Join(dir, "faces.onnx")); status != failed || !strings.Contains(said, "it is no ONNX file, or is cut off") {
		t.Errorf("add of what is no model: got %q, status %d", said, status)
	}
}

// TestModelsWithoutRuntime: models are there, and the library is not.
func TestModelsWithoutRuntime(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "faces.onnx")
	detector().Write(t, file)
	if _, err := onnx.Add(dir, onnx.Model{Role: onnx.FaceDetector}, file); err != nil {
		t.Fatal(err)
	}
	out, _, status := command(t, "models", "check", "--models", dir, "--onnxruntime", filepath.Join(dir, "none.so"))
	if status != failed || !strings.Contains(out, "faces.onnx") || !strings.Contains(out, "\nface-detector: ") {
		t.Errorf("got %q, status %d", out, status)
	}
}
