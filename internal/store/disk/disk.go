// Package disk stores objects as files in a folder of one machine, and serves and receives them at
// signed URLs.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// These are the subfolders of the folder.
const (
	files   = "files"   // an object's file has the object's key as its path
	partial = "partial" // unfinished files
)

// Objects stores media as files in a folder.
type Objects struct {
	root   *os.Root
	secret []byte
	now    func() time.Time
	log    *slog.Logger
	// Reserve is the number of bytes of the disk that new media must leave free; see Room. Set it
	// before use.
	Reserve int64
	// dirs is locked while folders are created or removed, so that no folder is removed between
	// its creation and that of the first file in it.
	dirs sync.Mutex
	// puts has the keys to which a client sends an object at the moment.
	puts sync.Map
}

// Open opens the folder at dir, and creates it if it does not exist. The handler of signed URLs logs
// failures of this machine to log.
func Open(dir string, now func() time.Time, log *slog.Logger) (*Objects, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	o := &Objects{root: root, now: now, log: log}
	err = errors.Join(root.MkdirAll(files, 0o700), root.MkdirAll(partial, 0o700))
	if err == nil {
		o.secret, err = o.openSecret()
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return o, nil
}

// Close closes the folder.
func (o *Objects) Close() error { return o.root.Close() }

// Clean deletes unfinished files of a killed process. No other process may write objects
// meanwhile, but one may open the folder.
func (o *Objects) Clean() error {
	entries, err := fs.ReadDir(o.root.FS(), partial)
	for _, entry := range entries {
		err = errors.Join(err, o.root.RemoveAll(path.Join(partial, entry.Name())))
	}
	return err
}

// Put writes a file. It appears under its key once all its bytes are on the disk.
func (o *Objects) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	name, err := fileOf(key)
	if err != nil {
		return err
	}
	temporary := path.Join(partial, randomName())
	if err := o.write(ctx, temporary, r, size); err != nil {
		return errors.Join(err, o.root.Remove(temporary))
	}
	return o.publish(temporary, name)
}

// write fills a new file and syncs it to the disk.
func (o *Objects) write(ctx context.Context, name string, r io.Reader, size int64) (err error) {
	f, err := o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := fill(ctx, f, r)
	if failure.DiskFull(err) && failure.CodeOf(err) != failure.NoSpace {
		return failure.ErrNoSpace(err)
	}
	if err != nil {
		return fmt.Errorf("write object: %w", err)
	}
	if size >= 0 && n != size {
		return fmt.Errorf("write object: got %d bytes, want %d", n, size)
	}
	return nil
}

// part is the number of bytes that are synced to the disk between two checks of the context. A slow
// disk takes nearly a second for them.
const part = 32 << 20

// fill copies r to the file and syncs it part by part, until ctx ends. A single sync of gigabytes
// at the end could not be interrupted.
func fill(ctx context.Context, f *os.File, r io.Reader) (int64, error) {
	for n := int64(0); ; {
		copied, err := io.CopyN(f, r, part)
		n += copied
		end := err == io.EOF
		if err == nil || end {
			err = ctx.Err()
		}
		if err == nil {
			err = f.Sync()
		}
		if err != nil || end {
			return n, err
		}
	}
}

// publish moves a finished file to its final path.
func (o *Objects) publish(temporary, name string) error {
	o.dirs.Lock()
	err := o.mkdirAll(path.Dir(name))
	if err == nil {
		err = o.root.Rename(temporary, name)
	}
	o.dirs.Unlock()
	if err != nil {
		return errors.Join(err, o.root.Remove(temporary))
	}
	return o.sync(path.Dir(name))
}

// mkdirAll creates the folder and those above it, and syncs the parent of each one that it
// created: a name that was not synced may be lost in a power cut.
func (o *Objects) mkdirAll(dir string) error {
	err := o.root.Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if err := o.mkdirAll(path.Dir(dir)); err != nil {
			return err
		}
		return o.mkdirAll(dir)
	case err != nil:
		return err
	}
	return o.sync(path.Dir(dir))
}

func (o *Objects) sync(dir string) error {
	d, err := o.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

var _ lipsync.Objects = (*Objects)(nil)

func (o *Objects) Open(_ context.Context, key string) (io.ReadCloser, int64, error) {
	f, info, err := o.open(key)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (o *Objects) OpenPart(_ context.Context, key, version string, offset, size int64) (io.ReadCloser, error) {
	f, info, err := o.open(key)
	if err != nil {
		return nil, err
	}
	if versionOf(info) != version {
		return nil, errors.Join(&failure.Error{Code: failure.Conflict, Message: "the object was replaced"}, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, offset, size), f}, nil
}

func (o *Objects) open(key string) (*os.File, fs.FileInfo, error) {
	name, err := fileOf(key)
	if err != nil {
		return nil, nil, err
	}
	f, err := o.root.Open(name)
	if err != nil {
		return nil, nil, orNotFound(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist // a folder is not an object
	}
	if err != nil {
		return nil, nil, orNotFound(errors.Join(err, f.Close()))
	}
	return f, info, nil
}

func (o *Objects) Size(ctx context.Context, key string) (int64, error) {
	_, size, err := o.Version(ctx, key)
	return size, err
}

func (o *Objects) Version(_ context.Context, key string) (version string, size int64, err error) {
	f, info, err := o.open(key)
	if err != nil {
		return "", 0, err
	}
	return versionOf(info), info.Size(), f.Close()
}

// versionOf returns the version of an object. Put makes a new file for each, and only then removes the former one.
func versionOf(info fs.FileInfo) string {
	var inode uint64
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = stat.Ino
	}
	return fmt.Sprintf("%d-%d-%d", inode, info.Size(), info.ModTime().UnixNano())
}

// Delete deletes a file, and the folders that have become empty.
func (o *Objects) Delete(_ context.Context, key string) error {
	name, err := fileOf(key)
	if err != nil {
		return err
	}
	o.dirs.Lock()
	defer o.dirs.Unlock()
	if err := o.root.Remove(name); err != nil {
		if missing(err) {
			return nil
		}
		return err
	}
	o.removeEmpty(path.Dir(name))
	return nil
}

// removeEmpty removes the folder and those above it, as long as they are empty.
func (o *Objects) removeEmpty(dir string) {
	for ; dir != files; dir = path.Dir(dir) {
		if o.root.Remove(dir) != nil {
			break // it is not empty
		}
	}
}

// DeleteAll deletes the finished files under a prefix. Unfinished ones are in partial; their writer or Clean
// removes them.
func (o *Objects) DeleteAll(_ context.Context, prefix string) error {
	name, err := fileOf(strings.TrimSuffix(prefix, "/"))
	if err != nil {
		return err
	}
	o.dirs.Lock()
	defer o.dirs.Unlock()
	if info, err := o.root.Stat(name); missing(err) || err == nil && !info.IsDir() {
		return nil
	}
	if err := o.root.RemoveAll(name); err != nil {
		return err
	}
	o.removeEmpty(path.Dir(name))
	return nil
}

func (o *Objects) List(ctx context.Context, prefix string, f func(key string, modified time.Time) error) error {
	top := path.Join(files, prefix[:strings.LastIndex(prefix, "/")+1])
	return fs.WalkDir(o.root.FS(), top, func(name string, d fs.DirEntry, err error) error {
		key := strings.TrimPrefix(name, files+"/")
		switch {
		case missing(err):
			return nil // deleted meanwhile, or never there
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() || !strings.HasPrefix(key, prefix):
			return nil
		}
		info, err := d.Info()
		if missing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return f(key, info.ModTime())
	})
}

// fileOf returns the path of an object's file below the root. A key must be a clean relative path,
// so that it can't leave the folder.
func fileOf(key string) (string, error) {
	if !fs.ValidPath(key) || key == "." || strings.ContainsAny(key, "\x00\\") {
		return "", fmt.Errorf("invalid object key %q", key)
	}
	return path.Join(files, key), nil
}

// missing reports whether there is no such file, also if a part of its path is a file instead of a
// folder.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func orNotFound(err error) error {
	if missing(err) {
		return &failure.Error{Code: failure.NotFound, Message: "object not found", Err: err}
	}
	return err
}
