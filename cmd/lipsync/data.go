package main

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

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/signin"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

// dataFlag is the option of each command that uses a data folder.
type dataFlag struct {
	Data string
}

// data is an open data folder. It has the database, the objects, a folder "scratch" for the files
// of running work, and a file "lock", which a server locks while it runs.
type data struct {
	dir     string
	store   *sqlite.Store
	objects *disk.Objects
	signIn  *signin.Folder
}

// Names in a data folder.
const (
	databaseFile    = "lipsync.db"
	objectsFolder   = "objects"
	dashboardFolder = "dashboard"
)

// openData opens the folder. Any number of processes may open it at a time; only one of them
// can be a server: see lock.
func openData(ctx context.Context, dir string, log *slog.Logger) (*data, error) {
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(dir, databaseFile))
	if err != nil {
		return nil, err
	}
	objects, err := disk.Open(filepath.Join(dir, objectsFolder), time.Now, log)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	signIn, err := openSignIn(dir)
	if err != nil {
		return nil, errors.Join(err, objects.Close(), store.Close())
	}
	return &data{dir: dir, store: store, objects: objects, signIn: signIn}, nil
}

// sinceStart returns a function that tells the time since this call.
func sinceStart() func() time.Duration {
	started := time.Now()
	return func() time.Duration { return time.Since(started) }
}

// ports returns what a service on the folder needs of it.
func (d *data) ports() lipsync.Ports {
	watch := &lipsync.ClockWatch{Now: time.Now, Elapsed: sinceStart()}
	return lipsync.Ports{Store: d.store.Store, Objects: d.objects, Settled: watch.Settled}
}

// makeFolder makes the data folder, if there is none.
func makeFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s %s is a file, not a folder", settings.Data.Flag(), dir)
	}
	return os.MkdirAll(dir, 0o700)
}

// checkData returns an error if the folder holds no data of the service.
func checkData(dir string) error {
	_, err := os.Stat(filepath.Join(dir, databaseFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s has no data of the service; choose another with %s", dir, settings.Data.Flag())
	}
	return err
}

func (d *data) close() error {
	return errors.Join(d.signIn.Close(), d.objects.Close(), d.store.Close())
}

// scratch returns the folder for the files of running work, empty.
func (d *data) scratch() (string, error) {
	dir := filepath.Join(d.dir, "scratch")
	return dir, errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700))
}

// lock makes this process the only server of the folder, until it calls unlock or ends. It
// removes the address of the last server.
func lock(dir string) (unlock func() error, err error) {
	if err := makeFolder(dir); err != nil {
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
	if err := os.Remove(addressFile(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// hold takes the lock. It tries for a moment, since locked may have the lock for so long.
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

// locked reports whether the folder has a server.
func locked(dir string) (bool, error) {
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
