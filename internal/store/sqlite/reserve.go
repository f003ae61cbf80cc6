package sqlite

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// logSize is the number of bytes that are reserved for the write-ahead log, in the log's own
	// file. SQLite copies the log to the database at 4 MiB and then starts the log again.
	logSize = 8 << 20
	// reserveSize is the number of bytes by which the database can still grow on a full disk.
	reserveSize = 8 << 20
	// reserveEvery is the time between two checks of the reserve.
	reserveEvery = time.Minute
)

// reserve is the space that a database has on a full disk, so that the ends of requests can still
// be stored. It consists of blocks of the log, and of a file that is deleted when the disk is full.
// Only one goroutine may use it.
type reserve struct {
	database string    // path of the database
	next     time.Time // time of the next check
}

func (r *reserve) path() string { return r.database + "-reserve" }

// give deletes the file and reports whether it existed.
func (r *reserve) give() bool {
	r.next = time.Now().Add(reserveEvery)
	return os.Remove(r.path()) == nil
}

// keep reserves the space if the disk has it. It does so again every reserveEvery. On file systems
// that can't reserve space it does nothing.
func (r *reserve) keep() {
	now := time.Now()
	if now.Before(r.next) {
		return
	}
	r.next = now.Add(reserveEvery)
	_ = setAside(r.database+"-wal", os.O_WRONLY, unix.FALLOC_FL_KEEP_SIZE, logSize)
	if err := setAside(r.path(), os.O_WRONLY|os.O_CREATE, 0, reserveSize); err != nil {
		_ = os.Remove(r.path())
	}
}

// setAside allocates blocks on the disk for a file's first size bytes.
func setAside(path string, flags int, mode uint32, size int64) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fallocate(int(f.Fd()), mode, 0, size), f.Close())
}
