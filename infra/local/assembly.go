package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// assembly is the output of the CDK app: the template of one stack, and its files.
type assembly struct {
	Stack    string
	Template template
	Files    []file
}

// file is an asset: its path here, and the bucket and key under which the template expects it.
// Bucket may contain ${AWS::AccountId} and ${AWS::Region}.
type file struct {
	Path        string
	Zip         bool // Path is a folder, to be sent as a zip archive
	Bucket, Key string
}

// readAssembly reads the folder of a CDK cloud assembly with one stack.
func readAssembly(dir string) (*assembly, error) {
	var manifest struct {
		Artifacts map[string]struct {
			Type       string
			Properties struct{ TemplateFile, File string }
		}
	}
	if err := readJSON(filepath.Join(dir, "manifest.json"), &manifest); err != nil {
		return nil, err
	}
	a := new(assembly)
	for name, artifact := range manifest.Artifacts {
		switch artifact.Type {
		case "aws:cloudformation:stack":
			if a.Stack != "" {
				return nil, fmt.Errorf("%s has more than one stack", dir)
			}
			a.Stack = name
			if err := readJSON(filepath.Join(dir, artifact.Properties.TemplateFile), &a.Template); err != nil {
				return nil, err
			}
		case "cdk:asset-manifest":
			files, err := readFiles(dir, artifact.Properties.File)
			if err != nil {
				return nil, err
			}
			a.Files = append(a.Files, files...)
		}
	}
	if a.Stack == "" {
		return nil, fmt.Errorf("%s has no stack", dir)
	}
	return a, nil
}

// readFiles reads a manifest of assets. It leaves out images, since containers on AWS are
// processes here, and the template, which is changed first.
func readFiles(dir, name string) ([]file, error) {
	var manifest struct {
		Files map[string]struct {
			Source       struct{ Path, Packaging string }
			Destinations map[string]struct{ BucketName, ObjectKey string }
		}
	}
	if err := readJSON(filepath.Join(dir, name), &manifest); err != nil {
		return nil, err
	}
	var files []file
	for _, f := range manifest.Files {
		if matched, _ := filepath.Match("*.template.json", f.Source.Path); matched {
			continue
		}
		path := f.Source.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		for _, d := range f.Destinations {
			files = append(files, file{Path: path, Zip: f.Source.Packaging == "zip", Bucket: d.BucketName, Key: d.ObjectKey})
		}
	}
	return files, nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// content returns the bytes to send for the file.
func (f file) content() ([]byte, error) {
	if !f.Zip {
		return os.ReadFile(f.Path)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	// The functions have 350 MB, and the emulator, which unpacks them, is on this machine.
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.NoCompression) })
	if err := w.AddFS(os.DirFS(f.Path)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
