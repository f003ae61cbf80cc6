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

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/network/catalog"
)

// modelsPrefix is the prefix of the objects with the models that the operator stored: models.json
// and the files that it names.
const modelsPrefix = "models/"

// These are the ages at which a machine's folders are deleted: those that a job began to fill, and
// those of whole catalogs. Folders of earlier catalogs are kept in case a new one is incomplete.
const (
	partTime = time.Hour
	keepTime = 24 * time.Hour // since a job last used it
)

const partPrefix = "part-"

// fetchModels returns a folder with the bucket's models, or "" if the bucket has none. Each machine
// fetches them once: folder keeps a subfolder for each models.json, named by its digest. If the
// bucket's models are incomplete, fetchModels logs that, and returns the subfolder that was used
// last. If there is none, it returns the incomplete models, so that only requests that need a
// missing one fail. Files that are right are kept for the next job.
func fetchModels(ctx context.Context, objects lipsync.Objects, folder string, log *slog.Logger) (string, error) {
	list, err := fetchCatalog(ctx, objects)
	if list == nil || err != nil {
		return "", err
	}
	sum := sha256.Sum256(list)
	digest := hex.EncodeToString(sum[:])
	whole, part := filepath.Join(folder, digest), filepath.Join(folder, partPrefix+digest)
	if verifyKept(whole) == nil {
		return whole, used(folder, whole, part)
	}
	unlock, err := lock(ctx, folder)
	if err != nil {
		return "", err
	}
	defer unlock()
	if verifyKept(whole) == nil { // another job fetched them meanwhile
		return whole, touch(whole)
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
	if wrong, err := verify(filepath.Join(part, filesFolder)); err != nil {
		log.Error("the models of the bucket are incomplete", "error", err)
		if last, err := lastUsed(folder); last != "" || err != nil {
			return last, errors.Join(err, drop(part, wrong)) // the next job takes the other files
		}
	}
	if err := replace(whole, part); err != nil {
		return "", err
	}
	return whole, touch(whole)
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
	if os.Link(filepath.Join(whole, m.File), m.Path()) == nil && m.Verify() == nil {
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

// verifyKept returns an error unless a kept folder is complete, and its name is the digest of its
// models.json. A job could have changed both the models and their digests in models.json.
func verifyKept(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, catalog.FileName))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != filepath.Base(folder) {
		return fmt.Errorf("the models.json of %s has another digest", folder)
	}
	_, err = verify(folder)
	return err
}

// verify returns an error unless a folder has all the files that its models.json names. It also
// returns the names of files that are missing or wrong.
func verify(folder string) (wrong []string, err error) {
	models, err := catalog.Read(folder)
	if err != nil {
		return nil, err
	}
	for _, m := range models.Models {
		if why := m.Verify(); why != nil {
			wrong, err = append(wrong, m.File), errors.Join(err, why)
		}
	}
	return wrong, err
}

// replace moves the files of a part to the folder whole, and then removes the part. It moves file by
// file. A folder belongs to one models.json, so none is ever missing for a job that uses them.
func replace(whole, part string) error {
	if err := os.MkdirAll(whole, 0o700); err != nil {
		return err
	}
	files := filepath.Join(part, filesFolder)
	entries, err := os.ReadDir(files)
	for _, f := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(files, f.Name()), filepath.Join(whole, f.Name())))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(part)
}

// used records that a job uses the folder whole, and deletes folders that no job uses, unless another
// job fetches models.
func used(folder, whole, part string) error {
	if err := touch(whole); err != nil {
		return err
	}
	unlock, err := tryLock(folder)
	if unlock == nil || err != nil {
		return err
	}
	defer unlock()
	return clean(folder, whole, part)
}

// touch records that a job uses a folder.
func touch(whole string) error {
	now := time.Now()
	return os.Chtimes(whole, now, now)
}

// clean deletes old folders, except those of the models that a job wants. The caller holds the lock.
func clean(folder, whole, part string) error {
	return removeFolders(folder, func(f fs.FileInfo) bool {
		age := keepTime
		if strings.HasPrefix(f.Name(), partPrefix) {
			age = partTime
		}
		wanted := f.Name() == filepath.Base(whole) || f.Name() == filepath.Base(part)
		return !wanted && time.Since(f.ModTime()) > age
	})
}

// makeRoom deletes all folders but the part and the complete one that was used last. The caller
// holds the lock.
func makeRoom(folder, part string) error {
	last, err := lastUsed(folder)
	if err != nil {
		return err
	}
	return removeFolders(folder, func(f fs.FileInfo) bool {
		return f.Name() != filepath.Base(last) && f.Name() != filepath.Base(part)
	})
}

// removeFolders deletes the folders for which f returns true.
func removeFolders(folder string, f func(fs.FileInfo) bool) error {
	entries, err := kept(folder)
	for _, e := range entries {
		if f(e) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// lastUsed returns the complete folder of models that was used last, or "".
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

// kept lists the machine's folder. It leaves out what another job deletes meanwhile.
func kept(folder string) (list []fs.FileInfo, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			list = append(list, info)
		}
	}
	return list, err
}
