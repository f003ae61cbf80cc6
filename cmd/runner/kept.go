package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lipsync/internal/network/catalog"
)

// These are the ages at which a machine's folders are deleted: those that a job began to fill, and
// those of whole catalogs. Folders of earlier catalogs are kept in case a new one is incomplete.
const (
	partTime = time.Hour
	keepTime = 24 * time.Hour // since a job last used it
)

const partPrefix = "part-"

// A kept folder, and a part, has a folder with models.json and the files that it names. A kept folder
// that is complete also has a file with the sizes of these files.
const (
	filesFolder = "files"
	sizesFile   = "sizes.json"
)

// verifyKept returns an error unless a kept folder is complete, and its name is the digest of its
// models.json. A job could have changed both the models and their digests in models.json. verifyKept
// doesn't read gigabytes: it compares the sizes of the files. A file's digest is checked when it is loaded.
func verifyKept(folder string) error {
	if err := verifyList(folder); err != nil {
		return err
	}
	kept, err := os.ReadFile(filepath.Join(folder, sizesFile))
	if err != nil {
		return err
	}
	sizes, err := sizesOf(filepath.Join(folder, filesFolder))
	if err == nil && !bytes.Equal(kept, sizes) {
		err = fmt.Errorf("a file of %s has another size", folder)
	}
	return err
}

// verifyList returns an error unless a kept folder's name is the digest of its models.json.
func verifyList(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, filesFolder, catalog.FileName))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != filepath.Base(folder) {
		return fmt.Errorf("the models.json of %s has another digest", folder)
	}
	return nil
}

// sizesOf returns the content of the file of sizes for a folder of files.
func sizesOf(files string) ([]byte, error) {
	models, err := catalog.Read(files)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, m := range models.Models {
		info, err := os.Stat(m.Path())
		if err != nil {
			return nil, err
		}
		sizes[m.File] = info.Size()
	}
	return json.Marshal(sizes)
}

// rotten reports whether a kept file is wrong though it has the right size. Then the next call of
// fetchModels fetches it.
func rotten(files string) bool {
	if _, err := verify(files); err == nil {
		return false
	}
	return os.Remove(filepath.Join(filepath.Dir(files), sizesFile)) == nil
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
func replace(whole, part string, complete bool) error {
	from, to := filepath.Join(part, filesFolder), filepath.Join(whole, filesFolder)
	if err := errors.Join(os.MkdirAll(to, 0o700), remove(filepath.Join(whole, sizesFile))); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	for _, f := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())))
	}
	if err == nil && complete {
		var sizes []byte
		if sizes, err = sizesOf(to); err == nil {
			err = os.WriteFile(filepath.Join(whole, sizesFile), sizes, 0o600)
		}
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
		if strings.HasPrefix(e.Name(), partPrefix) || verifyList(path) != nil {
			continue
		}
		if _, err := verify(filepath.Join(path, filesFolder)); err == nil {
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
