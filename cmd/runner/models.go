package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"lipsync/internal/lipsync"
	"lipsync/internal/onnx"
)

// modelsPrefix is where the bucket has the models that the operator put there:
// models.json and the files that it names.
const modelsPrefix = "models/"

// fetchModels returns a folder with the models of the bucket, "" if it has none.
// They come once to each machine: folder keeps them, for each models.json that
// there ever was, by its digest.
func fetchModels(ctx context.Context, objects lipsync.Objects, folder string) (string, error) {
	part, err := os.MkdirTemp(folder, "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part) // is gone once it is renamed
	digest, err := fetchModel(ctx, objects, part, onnx.CatalogName)
	if lipsync.CodeOf(err) == lipsync.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	whole := filepath.Join(folder, digest)
	if _, err := os.Stat(whole); err == nil {
		return whole, nil
	}
	catalog, err := onnx.ReadCatalog(part)
	if err != nil {
		return "", err
	}
	for _, m := range catalog.Models {
		if _, err := fetchModel(ctx, objects, part, m.File); err != nil {
			return "", err
		}
		if err := m.Verify(); err != nil {
			return "", err
		}
	}
	if err := os.Rename(part, whole); err != nil && !errors.Is(err, os.ErrExist) { // by another job, meanwhile
		return "", err
	}
	return whole, nil
}

// fetchModel copies one object to the folder, and returns its SHA-256.
func fetchModel(ctx context.Context, objects lipsync.Objects, folder, name string) (digest string, err error) {
	object, _, err := objects.Open(ctx, modelsPrefix+name)
	if err != nil {
		return "", err
	}
	defer object.Close()
	file, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(file, io.TeeReader(object, sum))
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, file.Close())
}
