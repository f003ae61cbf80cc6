package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/disk"
	"lipsync/internal/onnx"
)

func TestFetchModels(t *testing.T) {
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Close() })
	put := func(name, content string) {
		t.Helper()
		if err := objects.Put(t.Context(), "models/"+name, strings.NewReader(content), -1); err != nil {
			t.Fatal(err)
		}
	}
	catalog := func(content string) string {
		sum := sha256.Sum256([]byte(content))
		return fmt.Sprintf(`{"models":[{"role":"wav2lip","file":"w.onnx","sha256":%q,"licence":"none"}]}`, hex.EncodeToString(sum[:]))
	}
	folder := t.TempDir()

	if got, err := fetchModels(t.Context(), objects, folder); got != "" || err != nil {
		t.Errorf("without models: got %q, %v", got, err)
	}
	put("models.json", catalog("first"))
	put("w.onnx", "first")
	first, err := fetchModels(t.Context(), objects, folder)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(first, "w.onnx")); string(got) != "first" || err != nil {
		t.Errorf("got model %q, %v", got, err)
	}
	if err := objects.Delete(t.Context(), "models/w.onnx"); err != nil {
		t.Fatal(err)
	}
	if again, err := fetchModels(t.Context(), objects, folder); again != first || err != nil {
		t.Errorf("once more on the machine: got %q, %v, want %q", again, err, first)
	}

	put("models.json", catalog("second"))
	put("w.onnx", "not the second")
	var bad *onnx.ModelError
	if got, err := fetchModels(t.Context(), objects, folder); !errors.As(err, &bad) {
		t.Errorf("a file that models.json doesn't name: got %q, %v", got, err)
	}
	put("w.onnx", "second")
	if second, err := fetchModels(t.Context(), objects, folder); second == first || err != nil {
		t.Errorf("a new catalog: got %q, %v", second, err)
	}
	if left, err := os.ReadDir(folder); len(left) != 2 || err != nil {
		t.Errorf("got %v, %v in the folder, want the two catalogs' folders alone", left, err)
	}
}
