package main

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

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/archive"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

type restoreCommand struct {
	dataFlag
	File  string `arg:"" help:"A file that lipsync backup made. The data folder must be empty or missing."`
	Trial bool   `help:"To try a backup: delete all webhooks, and cancel all requests and batches that aren't finished. A server on this data folder then sends nothing to clients."`
}

// restoring is the folder, in the data folder, that has the files until all of them are extracted.
const restoring = "restoring"

func (c *restoreCommand) Run(ctx context.Context, s streams) (err error) {
	if err := empty(c.Data); err != nil {
		return err
	}
	from, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer from.Close()
	unlock, err := lock(c.Data)
	if err != nil {
		return err
	}
	if err := fits(from, c.Data); err != nil {
		return errors.Join(err, unlock())
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := empty(c.Data); err != nil { // check again, now that no server can start
		return err
	}
	scratch := filepath.Join(c.Data, restoring)
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := extract(ctx, from, scratch); err != nil {
		return err
	}
	if err := sqlite.Check(ctx, filepath.Join(scratch, databaseFile)); err != nil {
		return err
	}
	var ended service.Ended
	if c.Trial {
		if ended, err = endAll(ctx, filepath.Join(scratch, databaseFile)); err != nil {
			return err
		}
	}
	if err := restamp(ctx, scratch); err != nil {
		return err
	}
	if err := publish(scratch, c.Data); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(s.out, "restored %s\n", c.Data); err == nil && c.Trial {
		_, err = fmt.Fprintf(s.out, "for a trial: webhooks deleted: %d, requests canceled: %d, batches canceled: %d\n", ended.Webhooks, ended.Requests, ended.Batches)
	}
	return err
}

// endAll makes a database one for trials; see service.Service.EndAll.
func endAll(ctx context.Context, database string) (ended service.Ended, err error) {
	store, err := sqlite.Open(ctx, database)
	if err != nil {
		return ended, err
	}
	service, err := service.New(lipsync.Config{}, lipsync.Ports{Store: store.Store})
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
	folder, err := openData(ctx, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(folder.stamp(ctx), folder.close())
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
		if name != databaseFile && !(below && (top == objectsFolder || top == dashboardFolder)) {
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
	const log = databaseFile + "-wal"
	for _, name := range []string{objectsFolder, dashboardFolder, log, databaseFile} {
		err := os.Rename(filepath.Join(scratch, name), filepath.Join(data, name))
		optional := name == dashboardFolder || name == log
		if err != nil && !(optional && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return syncFolder(data)
}
