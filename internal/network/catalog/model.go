package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"lipsync/internal/network/onnx"
)

// Path returns the path of the model's file.
func (m Model) Path() string { return filepath.Join(m.dir, m.File) }

// Verify reads the model's file, and fails unless its SHA-256 is the one in models.json.
func (m Model) Verify() error {
	_, err := m.read()
	return err
}

// read returns the content of the model's file, whose SHA-256 is the one in models.json.
func (m Model) read() ([]byte, error) {
	content, err := onnx.ReadModel(m.Path())
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(hexSHA256(content), m.SHA256) {
		return nil, &onnx.ModelError{File: m.File, Reason: "it is not the file that " + FileName + " names: its SHA-256 differs"}
	}
	return content, nil
}

// hexSHA256 returns the SHA-256 of content in hexadecimal.
func hexSHA256(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// Load loads the model, and fails unless its file is the one that models.json names. It
// reads the file once, so that nobody can replace it after the check.
func (m Model) Load(r *onnx.Runtime, o onnx.Options) (*onnx.Session, error) {
	content, err := m.read()
	if err != nil {
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
