package onnx

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// MaxModel is the size of the largest model file, in bytes: that of a protobuf message.
const MaxModel = 2 << 30

// Path is where the model lies.
func (m Model) Path() string { return filepath.Join(m.dir, m.File) }

// Verify reads the file and fails unless it is the one that models.json names.
func (m Model) Verify() error {
	file, err := os.Open(m.Path())
	if err != nil {
		return &ModelError{File: m.File, Reason: "it cannot be read", Err: err}
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return &ModelError{File: m.File, Reason: "it cannot be read", Err: err}
	}
	return m.compare(digest.Sum(nil))
}

func (m Model) compare(digest []byte) error {
	want, _ := hex.DecodeString(m.SHA256) // models.json was checked
	if !bytes.Equal(digest, want) {
		return &ModelError{File: m.File, Reason: "it is not the file that " + CatalogName + " names: its SHA-256 differs"}
	}
	return nil
}

// Load loads the model if it is the one that models.json tells of. It reads the
// file once: what is compared is what is loaded.
func (m Model) Load(r *Runtime, o Options) (*Session, error) {
	content, err := readModel(m.Path())
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(content)
	if err := m.compare(digest[:]); err != nil {
		return nil, err
	}
	s, err := r.load(m.File, content, o)
	if err != nil {
		return nil, err
	}
	if size := InputSize(s); m.InputSize != 0 && m.InputSize != size {
		reason := fmt.Sprintf("its input_size is %d, and %s says %d", size, CatalogName, m.InputSize)
		return nil, errors.Join(&ModelError{File: m.File, Reason: reason}, s.Close())
	}
	return s, nil
}

// InputSize is the side of the square pictures that a network takes, in pixels; 0
// if that is no one size.
func InputSize(s *Session) int {
	for _, in := range s.Inputs() {
		if shape := in.Shape; len(shape) == 4 && shape[2] == shape[3] {
			return max(shape[2], 0)
		}
	}
	return 0
}

// Load reads a model. A file that cannot be used is a *ModelError.
func (r *Runtime) Load(path string, o Options) (*Session, error) {
	content, err := readModel(path)
	if err != nil {
		return nil, err
	}
	return r.load(filepath.Base(path), content, o)
}

func readModel(path string) ([]byte, error) {
	bad := func(reason string, err error) ([]byte, error) {
		return nil, &ModelError{File: filepath.Base(path), Reason: reason, Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return bad("there is no such file", err)
	case err != nil:
		return bad("it cannot be read", err)
	case !info.Mode().IsRegular():
		return bad("it is no file", nil)
	case info.Size() >= MaxModel:
		return bad("it is larger than 2 GiB", nil)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return bad("it cannot be read", err)
	}
	return content, nil
}
