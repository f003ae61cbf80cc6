package onnx

import (
	"errors"
	"os"
	"path/filepath"
)

// MaxModel is the size of the largest model file, in bytes: that of a protobuf message.
const MaxModel = 2 << 30

// ReadModel reads the file of a model, for LoadContent. A file that cannot be a model
// is a *ModelError.
func ReadModel(path string) ([]byte, error) {
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
		return bad("it is not a regular file", nil)
	case info.Size() >= MaxModel:
		return bad("it is larger than 2 GiB", nil)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return bad("it cannot be read", err)
	}
	return content, nil
}

// Load reads the file of a model and makes a session of it. A file that cannot be used
// is a *ModelError.
func (r *Runtime) Load(path string, o Options) (*Session, error) {
	content, err := ReadModel(path)
	if err != nil {
		return nil, err
	}
	return r.LoadContent(filepath.Base(path), content, o)
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
