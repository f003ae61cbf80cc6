package onnxtest

import (
	"compress/gzip"
	"embed"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// musetalk has what export.py --random 1 --small of package musetalk writes, compressed by gzip -9n.
//
//go:embed musetalk
var musetalk embed.FS

// MuseTalk writes a network of MuseTalk to a file of the test and returns its path. The network has
// few and small layers, whose weights are random. It is the one of a role, such as musetalk-encoder.
func MuseTalk(t testing.TB, role string) string {
	t.Helper()
	packed, err := musetalk.Open("musetalk/" + role + ".onnx.gz")
	if err != nil {
		t.Fatal(err)
	}
	content, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), role+".onnx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := io.Copy(file, content); err != nil {
		t.Fatal(err)
	}
	return path
}
