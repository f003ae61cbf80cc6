package sqlite

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// logSize is how many bytes are set aside for the write-ahead log, in the log's own
	// file. SQLite copies the log to the database at 4 MiB and then begins it anew.
	logSize = 8 << 20
	// reserveSize is how many bytes the database can still grow by on a full disk.
	reserveSize = 8 << 20
	// reserveEvery is how often the reserve is looked after.
	reserveEvery = time.Minute
)

// reserve is the space that a database has on a full disk, so that what ends and is
// canceled can still be recorded: blocks of its log, and a file that only holds space
// and is removed then. It is used by one goroutine.
type reserve struct {
	database string    // path
	next     time.Time // when it is to be looked after
}

func (r *reserve) path() string { return r.database + "-reserve" }

// give removes the file, and reports whether there was one.
func (r *reserve) give() bool {
	r.next = time.Now().Add(reserveEvery)
	return os.Remove(r.path()) == nil
}

// keep sets the space aside, as far as there is any, and once in a while again. Some
// file systems can't do that: then there is no reserve.
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

// setAside gives a file blocks for its first bytes.
func setAside(path string, flags int, mode uint32, size int64) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fallocate(int(f.Fd()), mode, 0, size), f.Close())
}
