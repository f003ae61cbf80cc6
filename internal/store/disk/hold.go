package disk

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"
)

// Held is a set of objects. Objects stay in it after they are deleted, since it has hard links to
// their files.
type Held struct {
	objects *Objects
	dir     string // below the root
}

// These are the subfolders of a set's folder.
const (
	heldFiles = "files"
	heldMark  = "mark" // missing after another process cleaned the folder
)

// Hold returns an empty set, which the caller must close. If a server starts on the folder
// meanwhile, it deletes the set, and Add fails.
func (o *Objects) Hold() (*Held, error) {
	h := &Held{o, path.Join(partial, randomName())}
	err := o.root.MkdirAll(path.Join(h.dir, heldFiles), 0o700)
	if err == nil {
		err = o.root.WriteFile(path.Join(h.dir, heldMark), nil, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Add adds all current objects.
func (h *Held) Add(ctx context.Context) error {
	err := h.objects.List(ctx, "", func(key string, _ time.Time) error {
		err := h.link(key)
		if errors.Is(err, fs.ErrExist) || missing(err) { // added before, or deleted meanwhile
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := h.objects.root.Stat(path.Join(h.dir, heldMark)); err != nil {
		return errors.New("a server was started on the data folder meanwhile")
	}
	return nil
}

func (h *Held) link(key string) error {
	held := path.Join(h.dir, heldFiles, key)
	if err := h.objects.root.MkdirAll(path.Dir(held), 0o700); err != nil {
		return err
	}
	return h.objects.root.Link(path.Join(files, key), held)
}

// FS returns the objects as files. Their paths are their keys.
func (h *Held) FS() (fs.FS, error) { return fs.Sub(h.objects.root.FS(), path.Join(h.dir, heldFiles)) }

// Close deletes the set.
func (h *Held) Close() error { return h.objects.root.RemoveAll(h.dir) }
