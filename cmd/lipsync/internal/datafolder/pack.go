package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/archive"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

// write writes the archive, and syncs it to the disk.
func (b *backup) write(ctx context.Context, made, snapshot string, held *disk.Held) (err error) {
	f, err := os.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := archive.NewWriter(f)
	if err := b.add(w, os.DirFS(b.scratch), filepath.Base(snapshot), DatabaseFile); err != nil {
		return err
	}
	if err := b.addOwn(w); err != nil {
		return err
	}
	if err := b.addObjects(ctx, w, snapshot, held); err != nil {
		return err
	}
	return errors.Join(w.Close(), f.Sync())
}

// addOwn adds the secrets of links and cookies, and the files of ended sessions and of invited people, if they exist.
func (b *backup) addOwn(w *archive.Writer) error {
	data := os.DirFS(b.data)
	names := []string{path.Join(objectsFolder, "secret"), path.Join(dashboardFolder, "secret")}
	for _, folder := range []string{"sessions", "people"} {
		files, err := fs.Glob(data, path.Join(dashboardFolder, folder, "*"))
		if err != nil {
			return err
		}
		names = append(names, files...)
	}
	for _, name := range names {
		if err := b.add(w, data, name, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// addObjects adds the objects that the snapshot names.
func (b *backup) addObjects(ctx context.Context, w *archive.Writer, snapshot string, held *disk.Held) (err error) {
	store, err := sqlite.Open(ctx, snapshot)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// The server may keep outputs for any time. Those that it no longer keeps are deleted.
	all := lipsync.Retention{Outputs: math.MaxInt64}
	service, err := service.New(base.Config{Limits: lipsync.Limits{Keep: all}}, base.Ports{Store: store.Store})
	if err != nil {
		return err
	}
	objects, err := held.FS()
	if err != nil {
		return err
	}
	return fs.WalkDir(objects, ".", func(key string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		needed, err := service.Needs(ctx, key)
		if err != nil || !needed {
			return err
		}
		return b.add(w, objects, key, path.Join(objectsFolder, "files", key))
	})
}

// add adds one file.
func (b *backup) add(w *archive.Writer, from fs.FS, file, name string) error {
	f, err := from.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := b.room(info.Size()); err != nil {
		return err
	}
	b.Files++
	b.Bytes += info.Size()
	return w.Add(name, f, info.Size())
}

// check reads the archive in the same way as restore, and opens its database.
func (b *backup) check(ctx context.Context, made string) error {
	f, err := os.Open(made)
	if err != nil {
		return err
	}
	defer f.Close()
	database := filepath.Join(b.scratch, "check.db")
	err = archive.Read(f, func(name string, content io.Reader) error {
		if name != DatabaseFile {
			return ctx.Err()
		}
		return writeFile(database, content)
	})
	if err != nil {
		return fmt.Errorf("the backup can't be read again: %w", err)
	}
	return sqlite.Check(ctx, database)
}

// writeFile writes a new file.
func writeFile(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return writeAll(f, content)
}

// writeAll writes the content to a new file, and closes it.
func writeAll(f *os.File, content io.Reader) error {
	_, err := io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// syncFolder syncs a folder, so that the names in it outlive a power cut.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
