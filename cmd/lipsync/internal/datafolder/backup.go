package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/settings"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

// Backup is a backup that was made.
type Backup struct {
	Files int
	Bytes int64    // in the files
	Lost  []string // keys of missing objects for which requests wait
}

// MakeBackup makes a file with all that a folder keeps, while a server may work on it. The file must not exist; it appears when it is complete and
// was read again. If it is on the disk of the folder, at least reserve bytes stay free there.
func MakeBackup(ctx context.Context, dir, file string, reserve int64) (_ Backup, err error) {
	if err := errors.Join(absent(file), Check(dir)); err != nil {
		return Backup{}, err
	}
	// The scratch folder is beside the file, so that the archive can be moved to its place.
	scratch, err := os.MkdirTemp(filepath.Dir(file), ".lipsync-backup-")
	if err != nil {
		return Backup{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	b := backup{data: dir, scratch: scratch}
	if same, err := sameDisk(dir, scratch); err != nil {
		return Backup{}, err
	} else if same {
		b.reserve = reserve
	}
	made, err := b.make(ctx)
	if err == nil {
		err = absent(file)
	}
	if err == nil {
		err = errors.Join(os.Rename(made, file), syncFolder(filepath.Dir(file)))
	}
	return b.Backup, err
}

func absent(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s exists: it is not overwritten", path))
	}
	return nil
}

// backup makes one backup.
type backup struct {
	Backup
	data, scratch string
	reserve       int64 // bytes that it leaves free on the disk of the data folder
}

// make makes the archive in the scratch folder, reads it again and returns its path.
func (b *backup) make(ctx context.Context) (made string, err error) {
	objects, err := disk.Open(filepath.Join(b.data, objectsFolder), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	database, err := os.Stat(filepath.Join(b.data, DatabaseFile))
	if err == nil {
		err = b.room(database.Size())
	}
	if err != nil {
		return "", err
	}
	held, err := objects.Hold()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	snapshot, err := b.freeze(ctx, held)
	if err != nil {
		return "", err
	}
	made = filepath.Join(b.scratch, "backup.tar")
	if err := b.write(ctx, made, snapshot, held); err != nil {
		return "", err
	}
	return made, b.check(ctx, made)
}

// sameDisk reports whether two folders are on one disk.
func sameDisk(a, b string) (bool, error) {
	var inA, inB unix.Stat_t
	err := errors.Join(unix.Stat(a, &inA), unix.Stat(b, &inB))
	return inA.Dev == inB.Dev, err
}

// room returns an error if size more bytes of the backup would leave less than the reserve.
func (b *backup) room(size int64) error {
	if b.reserve == 0 {
		return nil
	}
	err := disk.Room(b.scratch, b.reserve, size)
	if failure.CodeOf(err) == failure.NoSpace {
		err = fmt.Errorf("the backup would leave less than %s free on the disk of the data folder: make it on another disk, or change %s", failure.Spell(b.reserve), settings.DiskReserve.Flag())
	}
	return err
}

// freezes is the largest number of tries of freeze.
const freezes = 20

// freeze copies the database, and holds the objects that exist at that moment. It misses an
// object that is made and deleted between two lists of the objects. Then it tries again. An
// object that is missing twice in a row is lost.
func (b *backup) freeze(ctx context.Context, held *disk.Held) (snapshot string, err error) {
	for round := range freezes {
		if err := held.Add(ctx); err != nil {
			return "", err
		}
		snapshot = filepath.Join(b.scratch, fmt.Sprintf("%d.db", round))
		if err := sqlite.Snapshot(ctx, filepath.Join(b.data, DatabaseFile), snapshot); err != nil {
			return "", fmt.Errorf("copy the database: %w", err)
		}
		if err := held.Add(ctx); err != nil {
			return "", err
		}
		before := b.Lost
		b.Lost, err = missing(ctx, snapshot, held)
		missed := slices.ContainsFunc(b.Lost, func(key string) bool { return !slices.Contains(before, key) })
		if err != nil || !missed {
			break
		}
	}
	return snapshot, err
}

// missing returns the keys of objects that open requests name, and that are not held.
func missing(ctx context.Context, snapshot string, held *disk.Held) (keys []string, err error) {
	store, err := sqlite.Open(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	open, err := store.Leases.Open(ctx, time.Unix(1<<40, 0), math.MaxInt) // no matter who holds them
	if err != nil {
		return nil, err
	}
	objects, err := held.FS()
	for _, r := range open {
		for _, in := range r.Inputs() {
			if in.Object == "" || err != nil {
				continue
			}
			_, statErr := fs.Stat(objects, in.Object)
			if errors.Is(statErr, fs.ErrNotExist) {
				keys = append(keys, in.Object)
			} else {
				err = statErr
			}
		}
	}
	return keys, err
}
