package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lipsync/internal/onnx"
)

// Path returns the path of the model's file.
func (m Model) Path() string { return filepath.Join(m.dir, m.File) }

// Verify reads the model's file, and fails unless its SHA-256 is the one in models.json.
func (m Model) Verify() error {
	file, err := os.Open(m.Path())
	if err != nil {
		return &onnx.ModelError{File: m.File, Reason: "it cannot be read", Err: err}
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return &onnx.ModelError{File: m.File, Reason: "it cannot be read", Err: err}
	}
	return m.compare(digest.Sum(nil))
}

func (m Model) compare(digest []byte) error {
	want, _ := hex.DecodeString(m.SHA256) // models.json was checked
	if !bytes.Equal(digest, want) {
		return &onnx.ModelError{File: m.File, Reason: "it is not the file that " + FileName + " names: its SHA-256 differs"}
	}
	return nil
}

// Load loads the model, and fails unless its file is the one that models.json names. It
// reads the file once, so that nobody can replace it after the check.
func (m Model) Load(r *onnx.Runtime, o onnx.Options) (*onnx.Session, error) {
	content, err := onnx.ReadModel(m.Path())
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(content)
	if err := m.compare(digest[:]); err != nil {
		return nil, err
	}
	s, err := r.LoadContent(m.File, content, o)
	if err != nil {
		return nil, err
	}
	if size := s.InputSize(); m.InputSize != 0 && m.InputSize != size {
		reason := fmt.Sprintf("its input_size is %d, and %s says %d", size, FileName, m.InputSize)
		return nil, errors.Join(&onnx.ModelError{File: m.File, Reason: reason}, s.Close())
	}
	return s, nil
}
