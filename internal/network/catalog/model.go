package catalog

import (
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
	_, err := m.Read()
	return err
}

// Read reads the model's file, for LoadRead. It fails unless its SHA-256 is the one in models.json.
func (m Model) Read() (*onnx.Model, error) {
	content, err := onnx.ReadModel(m.Path())
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(hex.EncodeToString(content.SHA256[:]), m.SHA256) {
		return nil, &onnx.ModelError{File: m.File, Reason: "it is not the file that " + FileName + " names: its SHA-256 differs"}
	}
	return content, nil
}

// Load loads the model, and fails unless its file is the one that models.json names. It
// reads the file once, so that nobody can change what is computed after the check. Only the
// weights of a large file stay in it: see onnx.Model.
func (m Model) Load(r *onnx.Runtime, o onnx.Options) (*onnx.Session, error) {
	content, err := m.Read()
	if err != nil {
		return nil, err
	}
	return m.LoadRead(r, content, o)
}

// LoadRead loads what Read returned.
func (m Model) LoadRead(r *onnx.Runtime, content *onnx.Model, o onnx.Options) (*onnx.Session, error) {
	s, err := r.LoadModel(content, o)
	if err != nil {
		return nil, err
	}
	if size := s.InputSize(); m.InputSize != 0 && m.InputSize != size {
		reason := fmt.Sprintf("its input_size is %d, and %s says %d", size, FileName, m.InputSize)
		return nil, errors.Join(&onnx.ModelError{File: m.File, Reason: reason}, s.Close())
	}
	return s, nil
}
