// Package catalog keeps the folder of models: the ONNX files of networks, and
// models.json, which states the role of each.
package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// FileName is the name of the file in the folder that lists the models.
const FileName = "models.json"

// MaxSize is the size of the largest models.json, in bytes.
const MaxSize = 1 << 20

// Catalog lists the models of a folder. Each role has one model at most.
type Catalog struct {
	Models []Model `json:"models"`
}

// Model is a file of the folder, as models.json lists it.
type Model struct {
	Role      Role   `json:"role"`
	File      string `json:"file"`                 // its name in the folder
	SHA256    string `json:"sha256"`               // of its content, in hexadecimal
	Licence   string `json:"licence"`              // as stated by the person who added it
	InputSize int    `json:"input_size,omitempty"` // side of the square pictures it takes, in pixels

	dir string
}

// Read reads models.json of the folder. It does not read the models: Verify and Load
// do.
func Read(dir string) (*Catalog, error) {
	file, err := os.Open(filepath.Join(dir, FileName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the folder of models has no %s, which lipsync models add makes: %w", FileName, os.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, err
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, err)
	}
	for i := range c.Models {
		c.Models[i].dir = dir
	}
	return c, nil
}

func parse(text []byte) (*Catalog, error) {
	if len(text) > MaxSize {
		return nil, errors.New("it is too large")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	c := new(Catalog)
	if err := decoder.Decode(c); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows the object")
	}
	for i, m := range c.Models {
		if err := m.validate(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(c.Models[:i], func(other Model) bool { return other.Role == m.Role }) {
			return nil, fmt.Errorf("there are two models of the role %s", m.Role)
		}
	}
	return c, nil
}

// WithoutEngines returns a models.json without the networks by which engines paint. One that can't be read stays as it is.
func WithoutEngines(text []byte) []byte {
	c, err := parse(text)
	if err != nil {
		return text
	}
	c.Models = slices.DeleteFunc(c.Models, func(m Model) bool { return m.Role.paints() })
	less, err := json.Marshal(c)
	if err != nil {
		panic(err) // can't happen: strings and numbers always encode
	}
	return less
}

// validateNames checks the fields that are known before the model's file is read.
func (m Model) validateNames() error {
	if _, err := ParseRole(string(m.Role)); err != nil {
		return err
	}
	if m.File != filepath.Base(m.File) || !filepath.IsLocal(m.File) || m.File == "." || m.File == FileName {
		return fmt.Errorf("%q cannot be the name of a model in the folder", m.File)
	}
	if !printable(m.File) || !printable(m.Licence) { // they are written to terminals and logs
		return fmt.Errorf("%q or its licence %q has characters that cannot be shown", m.File, m.Licence)
	}
	return nil
}

func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (m Model) validate() error {
	if err := m.validateNames(); err != nil {
		return err
	}
	if digest, err := hex.DecodeString(m.SHA256); err != nil || len(digest) != sha256.Size {
		return fmt.Errorf("the sha256 of %s is not 64 hexadecimal digits", m.File)
	}
	if m.InputSize < 0 {
		return fmt.Errorf("the input_size of %s is below 0", m.File)
	}
	return nil
}

// Find returns the model of a role, and whether there is one.
func (c *Catalog) Find(role Role) (Model, bool) {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Role == role })
	if i < 0 {
		return Model{}, false
	}
	return c.Models[i], true
}
