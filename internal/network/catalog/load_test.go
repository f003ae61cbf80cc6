//go:build cgo

package catalog_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/test/onnxtest"
)

// TestLoad checks that only a file that models.json names is loaded, and only if its
// pictures are as large as models.json says.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(t.TempDir(), "plain.onnx")
	onnxtest.AsItIs().Write(t, plain)
	m, err := catalog.Add(dir, catalog.Model{Role: catalog.Wav2Lip}, plain)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Load(onnxtest.Runtime(t), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for size, want := range map[int]string{0: "", 96: "", 128: "the model sized.onnx cannot be used: its input_size is 96, and models.json says 128"} {
		file := filepath.Join(t.TempDir(), "sized.onnx")
		onnxtest.AsItIs().Write(t, file)
		sized, err := catalog.Add(t.TempDir(), catalog.Model{Role: catalog.Wav2Lip, InputSize: size}, file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sized.Load(onnxtest.Runtime(t), onnx.Options{})
		if err == nil {
			s.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("input_size %d: got %v, want %q", size, err, want)
		}
	}
	onnxtest.Endless().Write(t, m.Path())
	if s, err := m.Load(onnxtest.Runtime(t), onnx.Options{}); err == nil || !strings.Contains(err.Error(), "SHA-256 differs") {
		t.Errorf("another content: got %v and %v", s, err)
	}
}
