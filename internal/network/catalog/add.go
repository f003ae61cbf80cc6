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

	"lipsync/internal/network/onnx"
)

// Add copies a file into the folder of models and enters it into models.json. It
// replaces the former model of the role, and removes the file of that model. It uses
// the Role, the Licence and the InputSize of m, and returns m with its other fields set.
//
// A crash leaves all files whole. If it comes after a file of the same name was
// replaced, and before models.json was, Verify fails until the model is added again.
func Add(dir string, m Model, file string) (Model, error) {
	c, err := Read(dir)
	if errors.Is(err, os.ErrNotExist) {
		c, err = new(Catalog), os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return Model{}, err
	}
	m.File, m.dir = filepath.Base(file), dir
	if err := m.validateNames(); err != nil {
		return Model{}, err
	}
	for _, other := range c.Models {
		if other.File == m.File && other.Role != m.Role {
			return Model{}, fmt.Errorf("the model of the role %s has the name %s already: give this file another name", other.Role, m.File)
		}
	}
	content, err := onnx.OpenModel(file)
	if err != nil {
		return Model{}, err
	}
	defer content.Close()
	sum := sha256.New()
	if err := replace(m.Path(), io.TeeReader(content, sum)); err != nil {
		return Model{}, err
	}
	m.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return m, c.enter(dir, m)
}

// enter writes the catalog with m in place of the former model of its role, and
// removes the file of that model.
func (c *Catalog) enter(dir string, m Model) error {
	former, found := c.Find(m.Role)
	c.Models = slices.DeleteFunc(c.Models, func(other Model) bool { return other.Role == m.Role })
	c.Models = append(c.Models, m)
	if err := c.write(dir); err != nil || !found || c.names(former.File) {
		return err
	}
	if err := os.Remove(former.Path()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// names tells whether the catalog has a model with a file of the name. Two roles can
// share a file if models.json was written by hand.
func (c *Catalog) names(file string) bool {
	return slices.ContainsFunc(c.Models, func(m Model) bool { return m.File == file })
}

func (c *Catalog) write(dir string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c); err != nil {
		return err
	}
	return replace(filepath.Join(dir, FileName), &text)
}

// replace writes a file. If it fails, the former file stays as it was.
func replace(path string, content io.Reader) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // if it wasn't renamed
	_, err = io.Copy(file, content)
	if err := errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
