package onnx

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"lipsync/internal/network/vet"
)

// MaxModel is the size of the largest model file, in bytes: that of a protobuf message.
const MaxModel = 2 << 30

// large is the size in bytes from which the weights of a model stay in its file.
var large int64 = 256 << 20

// Model is a model's file, read for LoadModel.
//
// The weights of a large file stay there: ONNX Runtime maps them, on the CPU for as long as the session
// lives. If somebody writes over them, numbers differ, but not what is computed with them: that was read
// once, and is judged as it was read. If somebody cuts the file off, SIGBUS ends the process. So files
// are replaced by renaming others only.
type Model struct {
	SHA256 [sha256.Size]byte // of the whole file

	name           string
	size           int64  // of the file
	halves         int64  // bytes of weights of 16 bits that are in the folder
	judged, linked []byte // what vet judges, and what ONNX Runtime gets
	folder         string // of the file with the weights; "" if linked has them
	bad            error  // why the content is no model
}

// NewModel returns a model of a small file's content.
func NewModel(name string, content []byte) *Model {
	return &Model{SHA256: sha256.Sum256(content), name: name, size: int64(len(content)), judged: content, linked: content}
}

// forCUDA returns what ONNX Runtime gets of a model that has nodes of its own for CUDA, if that is among the providers, or nil.
func (m *Model) forCUDA(providers []Provider) ([]byte, error) {
	if !slices.Contains(providers, CUDA) {
		return nil, nil
	}
	judged, err := vet.ForCUDA(m.judged)
	if err != nil || judged == nil {
		return nil, err
	}
	if _, err := vet.Read(judged); err != nil {
		return nil, err
	}
	if m.folder == "" {
		return judged, nil
	}
	return vet.ForCUDA(m.linked)
}

// Large returns the size of the file in bytes if loading it takes longer than people expect, else 0.
func (m *Model) Large() int64 {
	if m.folder == "" {
		return 0
	}
	return m.size
}

// OpenModel opens the file of a model. A file that cannot be a model is a *ModelError.
func OpenModel(path string) (*os.File, error) {
	bad := func(reason string, err error) (*os.File, error) {
		return nil, &ModelError{File: filepath.Base(path), Reason: reason, Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return bad("there is no such file", err)
	case err != nil:
		return bad("it cannot be read", err)
	case !info.Mode().IsRegular():
		return bad("it is not a regular file", nil)
	case info.Size() >= MaxModel:
		return bad("it is larger than 2 GiB", nil)
	}
	file, err := os.Open(path)
	if err != nil {
		return bad("it cannot be read", err)
	}
	return file, nil
}

// ReadModel reads the file of a model. A file that cannot be a model is a *ModelError.
func ReadModel(path string) (*Model, error) {
	file, err := OpenModel(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := readModel(file, path)
	if err != nil {
		return nil, &ModelError{File: filepath.Base(path), Reason: "it cannot be read", Err: err}
	}
	return m, nil
}

func readModel(file *os.File, path string) (*Model, error) {
	name := filepath.Base(path)
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < large {
		var content bytes.Buffer
		content.Grow(int(info.Size()) + bytes.MinRead)
		_, err := content.ReadFrom(io.LimitReader(file, MaxModel))
		return NewModel(name, content.Bytes()), err
	}
	path, err = filepath.EvalSymlinks(path) // ONNX Runtime follows no links to weights
	if err != nil {
		return nil, err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	m := &Model{name: name, size: info.Size(), folder: filepath.Dir(path)}
	sum := sha256.New()
	content := io.TeeReader(file, sum)
	m.judged, m.linked, m.halves, m.bad = vet.Split(content, info.Size(), filepath.Base(path))
	if _, err := io.Copy(io.Discard, content); err != nil {
		return nil, err
	}
	sum.Sum(m.SHA256[:0])
	return m, nil
}

// Load reads the file of a model and makes a session of it. A file that cannot be used
// is a *ModelError.
func (r *Runtime) Load(path string, o Options) (*Session, error) {
	m, err := ReadModel(path)
	if err != nil {
		return nil, err
	}
	return r.LoadModel(m, o)
}

// InputSize returns the side of the square pictures that a network takes, in pixels,
// or 0 if no one size is fixed in the model.
func (s *Session) InputSize() int {
	for _, in := range s.Inputs() {
		if shape := in.Shape; len(shape) == 4 && shape[2] == shape[3] {
			return max(shape[2], 0)
		}
	}
	return 0
}
