package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/archive"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

// restoring is the folder, in the data folder, that has the files until all of them are extracted.
const restoring = "restoring"

// Restore extracts a backup to a folder that is empty or missing. For a trial it then deletes all webhooks and cancels what isn't finished, which
// it counts.
func Restore(ctx context.Context, file, dir string, trial bool) (ended service.Ended, err error) {
	if err := empty(dir); err != nil {
		return ended, err
	}
	from, err := os.Open(file)
	if err != nil {
		return ended, err
	}
	defer from.Close()
	unlock, err := Lock(dir)
	if err != nil {
		return ended, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := errors.Join(fits(from, dir), empty(dir)); err != nil { // empty again, now that no server can start
		return ended, err
	}
	scratch := filepath.Join(dir, restoring)
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return ended, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	database := filepath.Join(scratch, DatabaseFile)
	if err := extract(ctx, from, scratch); err != nil {
		return ended, err
	}
	if err := sqlite.Check(ctx, database); err != nil {
		return ended, err
	}
	if trial {
		if ended, err = endAll(ctx, database); err != nil {
			return ended, err
		}
	}
	if err := restamp(ctx, scratch); err != nil {
		return ended, err
	}
	return ended, publish(scratch, dir)
}

// endAll makes a database one for trials; see service.Service.EndAll.
func endAll(ctx context.Context, database string) (ended service.Ended, err error) {
	store, err := sqlite.Open(ctx, database)
	if err != nil {
		return ended, err
	}
	service, err := service.New(base.Config{}, base.Ports{Store: store.Store})
	if err == nil {
		ended, err = service.EndAll(ctx)
	}
	return ended, errors.Join(err, store.Close())
}

// fits returns an error if the disk of the folder has less free space than the archive has bytes.
func fits(archive *os.File, dir string) error {
	info, err := archive.Stat()
	if err != nil {
		return err
	}
	free, err := disk.Free(dir)
	if err == nil && info.Size() > free {
		err = fmt.Errorf("the backup has %d bytes, and only %d are free on the disk of %s", info.Size(), free, dir)
	}
	return err
}

// restamp makes the restored media those of the restored database.
func restamp(ctx context.Context, dir string) error {
	folder, err := Open(ctx, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(folder.Stamp(ctx), folder.Close())
}

// empty returns an error if a data folder has anything in it, except for the lock and the folder
// lost+found of a new disk.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "lost+found" && name != "lock" {
			return fmt.Errorf("%s is not empty: it holds %s; nothing is overwritten", dir, name)
		}
	}
	return nil
}

// extract writes the files of an archive to a folder, and syncs them to the disk.
func extract(ctx context.Context, from io.Reader, dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	err = archive.Read(from, func(name string, content io.Reader) error {
		top, _, below := strings.Cut(name, "/")
		if name != DatabaseFile && !(below && (top == objectsFolder || top == dashboardFolder)) {
			return fmt.Errorf("the archive has the file %q, which no backup has", name)
		}
		return errors.Join(ctx.Err(), extractFile(root, name, content))
	})
	if err != nil {
		return err
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}

func extractFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return writeAll(f, content)
}

// publish moves the extracted files to their places, the database last. Without the database no
// record names a file. SQLite may keep the last changes of endAll in its log.
func publish(scratch, data string) error {
	const log = DatabaseFile + "-wal"
	for _, name := range []string{objectsFolder, dashboardFolder, log, DatabaseFile} {
		err := os.Rename(filepath.Join(scratch, name), filepath.Join(data, name))
		optional := name == dashboardFolder || name == log
		if err != nil && !(optional && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return syncFolder(data)
}
