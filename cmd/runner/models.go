package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/network/catalog"
)

// modelsPrefix is the prefix of the objects with the models that the operator stored: models.json
// and the files that it names.
const modelsPrefix = "models/"

// fetchModels returns a folder with the bucket's models that a runner with the duty uses, or "" if the bucket has none. Each machine
// fetches them once: folder keeps a subfolder for each models.json, named by its digest. If the
// bucket's models are incomplete, fetchModels logs that, and returns those that were used
// last. If there is none, it returns the incomplete models, so that only requests that need a
// missing one fail. Files that are right are kept for the next job.
func fetchModels(ctx context.Context, objects lipsync.Objects, folder string, d lipsync.Duty, log *slog.Logger) (string, error) {
	list, err := fetchCatalog(ctx, objects)
	if list == nil || err != nil {
		return "", err
	}
	if !d.Does(lipsync.Neural) {
		list = catalog.WithoutEngines(list)
	}
	sum := sha256.Sum256(list)
	digest := hex.EncodeToString(sum[:])
	whole, part := filepath.Join(folder, digest), filepath.Join(folder, partPrefix+digest)
	files := filepath.Join(whole, filesFolder)
	if verifyKept(whole) == nil {
		return files, used(folder, whole, part)
	}
	unlock, err := lock(ctx, folder)
	if err != nil {
		return "", err
	}
	defer unlock()
	if verifyKept(whole) == nil { // another job fetched them meanwhile
		return files, touch(whole)
	}
	if err := clean(folder, whole, part); err != nil {
		return "", err
	}
	err = fetchAll(ctx, objects, part, whole, list)
	if errors.Is(err, unix.ENOSPC) {
		log.Warn("no space for the models: all but the last ones are deleted", "error", err)
		if err = makeRoom(folder, part); err == nil {
			err = fetchAll(ctx, objects, part, whole, list)
		}
	}
	if err != nil {
		return "", err // the next job goes on with the part
	}
	wrong, incomplete := verify(filepath.Join(part, filesFolder))
	if incomplete != nil {
		log.Error("the models of the bucket are incomplete", "error", incomplete)
		if last, err := lastUsed(folder); last != "" || err != nil {
			return filepath.Join(last, filesFolder), errors.Join(err, drop(part, wrong)) // the next job takes the other files
		}
	}
	if err := replace(whole, part, incomplete == nil); err != nil {
		return "", err
	}
	return files, touch(whole)
}

// fetchCatalog returns the bucket's models.json, or nil if there is none.
func fetchCatalog(ctx context.Context, objects lipsync.Objects) ([]byte, error) {
	object, size, err := objects.Open(ctx, modelsPrefix+catalog.FileName)
	if failure.CodeOf(err) == failure.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer object.Close()
	list := make([]byte, min(size, catalog.MaxSize+1)) // reading a longer one fails
	_, err = io.ReadFull(object, list)
	return list, err
}

// fetchAll copies the files that a models.json names, and that, to a part. It does not fetch a file
// that the part or the folder whole has. It ignores missing files, which verify reports.
func fetchAll(ctx context.Context, objects lipsync.Objects, part, whole string, list []byte) error {
	files, marks := filepath.Join(part, filesFolder), filepath.Join(part, marksFolder)
	if err := errors.Join(os.MkdirAll(files, 0o700), os.MkdirAll(marks, 0o700)); err != nil {
		return err
	}
	now := time.Now() // an earlier job may have made the folder
	if err := errors.Join(os.WriteFile(filepath.Join(files, catalog.FileName), list, 0o600), os.Chtimes(part, now, now)); err != nil {
		return err
	}
	models, err := catalog.Read(files)
	if err != nil {
		return nil
	}
	for _, m := range models.Models {
		marks := filepath.Join(marks, m.File)
		there, err := has(m, marks, whole)
		if err == nil && !there {
			err = fetchFile(ctx, objects, modelsPrefix+m.File, m.Path(), marks)
		}
		if err != nil && failure.CodeOf(err) != failure.NotFound {
			return err
		}
	}
	return nil
}

// has reports whether a part has a model. If the folder whole has it, has links it into the part. It
// removes a file that is neither the model nor has marks.
func has(m catalog.Model, marks, whole string) (bool, error) {
	if _, err := os.Lstat(marks); !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	if m.Verify() == nil {
		return true, nil
	}
	if err := remove(m.Path()); err != nil {
		return false, err
	}
	if os.Link(filepath.Join(whole, filesFolder, m.File), m.Path()) == nil && m.Verify() == nil {
		return true, nil
	}
	return false, remove(m.Path()) // fetchFile must not write to a file of the folder whole
}

// drop removes files of a part, and their marks.
func drop(part string, files []string) (err error) {
	for _, name := range files {
		err = errors.Join(err, remove(filepath.Join(part, filesFolder, name)), remove(filepath.Join(part, marksFolder, name)))
	}
	return err
}

// remove removes a file, if there is one.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
