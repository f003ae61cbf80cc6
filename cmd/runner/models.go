package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lipsync/internal/lipsync"
	"lipsync/internal/onnx"
	"lipsync/internal/onnx/catalog"
)

// modelsPrefix is where the bucket has the models that the operator put there:
// models.json and the files that it names.
const modelsPrefix = "models/"

// What a machine keeps: folders that jobs still fill, and those of earlier
// catalogs, in case that a new one is not whole.
const (
	partTime = time.Hour
	keepTime = 24 * time.Hour // since a job used it
)

const partPrefix = "part-"

// fetchModels returns a folder with the models of the bucket, "" if it has none.
// They come once to each machine: folder keeps them, for each models.json that
// there ever was, by its digest. If the bucket's are not whole, which is logged,
// it is the folder that was used last, or if there is none theirs all the same:
// only jobs that need what is amiss fail.
func fetchModels(ctx context.Context, objects lipsync.Objects, folder string, log *slog.Logger) (string, error) {
	part, err := os.MkdirTemp(folder, partPrefix)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	digest, err := fetchModel(ctx, objects, part, catalog.FileName)
	if lipsync.CodeOf(err) == lipsync.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	whole := filepath.Join(folder, digest)
	if verifyKept(whole) == nil {
		return whole, used(folder, whole)
	}
	if err := fetchAll(ctx, objects, part); err != nil {
		return "", err
	}
	if err := verify(part); err != nil {
		log.Error("the models of the bucket are not whole", "error", err)
		if last, err := lastUsed(folder); last != "" || err != nil {
			return last, err
		}
	}
	if err := replace(whole, part); err != nil {
		return "", err
	}
	return whole, used(folder, whole)
}

// fetchAll copies what models.json of the folder names. What is amiss with a
// model is left to verify.
func fetchAll(ctx context.Context, objects lipsync.Objects, folder string) error {
	models, err := catalog.Read(folder)
	if err != nil {
		return nil
	}
	for _, m := range models.Models {
		if _, err := fetchModel(ctx, objects, folder, m.File); err != nil && lipsync.CodeOf(err) != lipsync.NotFound {
			return err
		}
	}
	return nil
}

// verifyKept fails unless a folder that the machine keeps is whole and of the
// models.json that its name is the digest of. A job could have changed both the
// models and their digests in models.json.
func verifyKept(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, catalog.FileName))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != filepath.Base(folder) {
		return fmt.Errorf("the models.json of %s has another digest", folder)
	}
	return verify(folder)
}

// verify fails unless a folder has all that its models.json names.
func verify(folder string) error {
	models, err := catalog.Read(folder)
	if err != nil {
		return err
	}
	for _, m := range models.Models {
		err = errors.Join(err, m.Verify())
	}
	return err
}

// replace puts the files of the folder part in the place of those of whole, unless
// another job has made that whole meanwhile. It does so file by file: whole is for
// one models.json, so that jobs at the same time move files of the same names, and
// none is ever missing for those that use them.
func replace(whole, part string) error {
	if verifyKept(whole) == nil {
		return nil
	}
	if err := os.MkdirAll(whole, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(part)
	for _, f := range files {
		err = errors.Join(err, os.Rename(filepath.Join(part, f.Name()), filepath.Join(whole, f.Name())))
	}
	return err
}

// used notes that a job uses the folder whole, and removes what no job does.
func used(folder, whole string) error {
	now := time.Now()
	if err := os.Chtimes(whole, now, now); err != nil {
		return err
	}
	entries, err := kept(folder)
	for _, e := range entries {
		age := keepTime
		if strings.HasPrefix(e.Name(), partPrefix) {
			age = partTime
		}
		if now.Sub(e.ModTime()) > age {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// lastUsed returns the folder of models that was used last and is whole, or "".
func lastUsed(folder string) (string, error) {
	entries, err := kept(folder)
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if !strings.HasPrefix(e.Name(), partPrefix) && verifyKept(path) == nil {
			return path, nil
		}
	}
	return "", err
}

// kept lists what the machine's folder holds. What another job removes meanwhile
// is left out.
func kept(folder string) (list []fs.FileInfo, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			list = append(list, info)
		}
	}
	return list, err
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
	// What is too long is cut off, and is not the file that models.json names.
	_, err = io.Copy(file, io.TeeReader(io.LimitReader(object, onnx.MaxModel+1), sum))
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, file.Close())
}
