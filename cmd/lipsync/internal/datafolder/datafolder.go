// Package datafolder opens the data folder of one machine, and makes and restores backups of it. The folder has the database, the objects, the
// dashboard's own files, a folder "scratch" for the files of running work, and a file "lock", which a server locks while it runs.
package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/clock"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/signin"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

// Folder is an open data folder.
type Folder struct {
	Dir     string
	Store   *sqlite.Store
	Objects *disk.Objects
	SignIn  *signin.Folder
}

// Names in a data folder.
const (
	DatabaseFile    = "lipsync.db"
	objectsFolder   = "objects"
	dashboardFolder = "dashboard"
)

// Open opens the folder, which it makes if there is none. Any number of processes may open it at a time; only one of them
// can be a server: see Lock.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Folder, error) {
	if err := Make(dir); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(dir, DatabaseFile))
	if err != nil {
		return nil, err
	}
	objects, err := disk.Open(filepath.Join(dir, objectsFolder), time.Now, log)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	signIn, err := OpenSignIn(dir)
	if err != nil {
		return nil, errors.Join(err, objects.Close(), store.Close())
	}
	return &Folder{Dir: dir, Store: store, Objects: objects, SignIn: signIn}, nil
}

// OpenSignIn opens the part of the folder that signs people in to the dashboard.
func OpenSignIn(dir string) (*signin.Folder, error) {
	return signin.OpenFolder(filepath.Join(dir, dashboardFolder), time.Now)
}

// AddressFile returns the path of the file with the address of the folder's server.
func AddressFile(dir string) string { return filepath.Join(dir, dashboardFolder, "address") }

// SinceNow returns a function that tells the time since this call.
func SinceNow() func() time.Duration {
	started := time.Now()
	return func() time.Duration { return time.Since(started) }
}

// Ports returns what a service on the folder needs of it.
func (d *Folder) Ports() base.Ports {
	watch := &clock.Watch{Now: time.Now, Elapsed: SinceNow()}
	return base.Ports{Store: d.Store.Store, Objects: d.Objects, Settled: watch.Settled}
}

// Make makes the data folder, if there is none.
func Make(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s %s is a file, not a folder", settings.Data.Flag(), dir)
	}
	return os.MkdirAll(dir, 0o700)
}

// Check returns an error if the folder holds no data of the service.
func Check(dir string) error {
	_, err := os.Stat(filepath.Join(dir, DatabaseFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s has no data of the service; choose another with %s", dir, settings.Data.Flag())
	}
	return err
}

// Close closes the database and the files.
func (d *Folder) Close() error {
	return errors.Join(d.SignIn.Close(), d.Objects.Close(), d.Store.Close())
}

// Scratch returns the folder for the files of running work, empty.
func (d *Folder) Scratch() (string, error) {
	dir := filepath.Join(d.Dir, "scratch")
	return dir, errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700))
}

// Lock makes this process the only server of the folder, until it calls unlock or ends. It
// removes the address of the last server.
func Lock(dir string) (unlock func() error, err error) {
	if err := Make(dir); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := hold(file); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("another server uses the data folder %s", dir)
		}
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := os.Remove(AddressFile(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// hold takes the lock. It tries for a moment, since Locked may have the lock for so long.
func hold(file *os.File) (err error) {
	for range 10 {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// Locked reports whether the folder has a server.
func Locked(dir string) (bool, error) {
	file, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
