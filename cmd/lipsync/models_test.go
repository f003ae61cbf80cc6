package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/test/onnxtest"
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
			{Name: "fours", Shape: []int{3}, Ints: []int64{1, -1, 4}}, {Name: "from", Shape: []int{1}, Ints: []int64{0}},
			{Name: "to", Shape: []int{1}, Ints: []int64{2}}, {Name: "axis", Shape: []int{1}, Ints: []int64{2}},
		},
		Nodes: []onnxtest.Node{
			{Op: "Reshape", Inputs: []string{"picture", "fours"}, Outputs: []string{"boxes"}},
			{Op: "Slice", Inputs: []string{"boxes", "from", "to", "axis"}, Outputs: []string{"scores"}},
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
	if _, said, status := models("add", "wav2lip", file); status != failed || !strings.Contains(said, "this is no model of the Wav2Lip family") {
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
	var list []struct {
		Digest, Loads bool
		Problem       string
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
		t.Fatalf("got %s: %v", out, err)
	}
	if m := list[0]; m.Digest || m.Loads || !strings.Contains(m.Problem, "SHA-256 differs") || status != failed || said != "lipsync: of 1 models 1 cannot be used\n" {
		t.Errorf("spoiled: got %+v, %q, status %d", m, said, status)
	}
	if _, said, status = models("add", "face-detector", filepath.Join(dir, "faces.onnx")); status != failed || !strings.Contains(said, "it is not an ONNX file, or it is incomplete") {
		t.Errorf("add of what is no model: got %q, status %d", said, status)
	}
}

// TestModelsWithoutRuntime checks models while the library is missing.
func TestModelsWithoutRuntime(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "faces.onnx")
	detector().Write(t, file)
	if _, err := catalog.Add(dir, catalog.Model{Role: catalog.FaceDetector}, file); err != nil {
		t.Fatal(err)
	}
	out, _, status := command(t, "models", "check", "--models", dir, "--onnxruntime", filepath.Join(dir, "none.so"))
	if status != failed || !strings.Contains(out, "faces.onnx") || !strings.Contains(out, "\nface-detector: ") {
		t.Errorf("got %q, status %d", out, status)
	}
}

// TestModelsThatDontFit checks that models add and models check refuse the models that serve refuses.
func TestModelsThatDontFit(t *testing.T) {
	onnxtest.Runtime(t)
	half, odd, any := detector(), onnxtest.AsItIs(), onnxtest.AsItIs()
	half.Nodes[1] = // 12 scores of 6 boxes
		onnxtest.Node{Op: "Reshape", Inputs: []string{"picture", "pairs"}, Outputs: []string{"scores"}}
	half.Initializers = append(half.Initializers, onnxtest.Tensor{Name: "pairs", Shape: []int{3}, Ints: []int64{1, -1, 2}})
	odd.Inputs[1].Shape, odd.Outputs[0].Shape = []int{-1, 6, 768, 768}, []int{-1, 3, 768, 768}
	any.Inputs[0].Shape = []int{-1, 1, -1, -1}
	for _, c := range []struct {
		role, want string
		graph      onnxtest.Graph
	}{
		{"face-detector", "the model's outputs are not a table of scores and one of boxes", half},
		{"wav2lip", "its faces are of 768 pixels", odd},
		{"wav2lip", "its inputs are [mel float32 n×1×n×n", any},
		{"musetalk", "this is no network of the role musetalk: its inputs are [picture float32 n×3×256×256]", onnxtest.MuseTalkGrey("musetalk-encoder")},
	} {
		dir, file := t.TempDir(), filepath.Join(t.TempDir(), "m.onnx")
		c.graph.Write(t, file)
		flags := []string{"--models", dir, "--onnxruntime", onnxtest.Library(t)}
		if _, said, status := command(t, append([]string{"models", "add", c.role, file}, flags...)...); status != failed || !strings.Contains(said, c.want) {
			t.Errorf("add: got %q, status %d, want %s", said, status, c.want)
		}
		if _, err := catalog.Add(dir, catalog.Model{Role: catalog.Role(c.role)}, file); err != nil {
			t.Fatal(err)
		}
		if out, _, status := command(t, append([]string{"models", "check"}, flags...)...); status != failed || !strings.Contains(out, c.want) {
			t.Errorf("check: got %q, status %d, want %s", out, status, c.want)
		}
	}
}

// TestModelsOfMuseTalk adds the four networks of musetalk one by one. After the first one models check says which are missing, and after the last one that
// none is.
func TestModelsOfMuseTalk(t *testing.T) {
	onnxtest.Runtime(t)
	flags := []string{"--models", t.TempDir(), "--onnxruntime", onnxtest.Library(t)}
	missing := map[string]string{"musetalk": "models of the roles musetalk-hearing, musetalk-encoder, musetalk-decoder:", "musetalk-decoder": ""}
	for _, role := range []string{"musetalk", "musetalk-hearing", "musetalk-encoder", "musetalk-decoder"} {
		if _, said, status := command(t, append([]string{"models", "add", role, onnxtest.MuseTalk(t, role)}, flags...)...); status != ok {
			t.Fatalf("add %s: got %q, status %d", role, said, status)
		}
		lacks, checked := missing[role]
		if !checked {
			continue
		}
		out, said, status := command(t, append([]string{"models", "check"}, flags...)...)
		if !strings.Contains(out, role+".onnx") || (status == ok) != (lacks == "") || lacks != "" && !strings.Contains(said, "musetalk has no "+lacks) {
			t.Errorf("check with %s: got %q, %q, status %d, want that it has no %q", role, out, said, status, lacks)
		}
	}
}

// TestModelsShowSizes checks that models check shows the sizes of pictures, and compares them with
// models.json.
func TestModelsShowSizes(t *testing.T) {
	onnxtest.Runtime(t)
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "m.onnx")
	onnxtest.AsItIs().Write(t, file)
	flags := []string{"--models", dir, "--onnxruntime", onnxtest.Library(t)}
	if _, said, status := command(t, append([]string{"models", "add", "wav2lip", file}, flags...)...); status != ok {
		t.Fatalf("add: got %q, status %d", said, status)
	}
	if out, said, status := command(t, append([]string{"models", "check"}, flags...)...); !strings.Contains(out, "96×96") || status != ok {
		t.Errorf("check: got %q, %q, status %d", out, said, status)
	}
	if _, err := catalog.Add(dir, catalog.Model{Role: catalog.Wav2Lip, InputSize: 128}, file); err != nil {
		t.Fatal(err)
	}
	out, _, status := command(t, append([]string{"models", "check"}, flags...)...)
	if status != failed || !strings.Contains(out, "its input_size is 96, and models.json says 128") {
		t.Errorf("another size: got %q, status %d", out, status)
	}
	_, said, status := command(t, append([]string{"models", "check", "--providers", "cpu,abacus"}, flags...)...)
	if status != usage || !strings.Contains(said, `there is no provider "abacus"`) {
		t.Errorf("a provider that there isn't: got %q, status %d", said, status)
	}
}
