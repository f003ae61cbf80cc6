package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lipsync/internal/domain/failure"
)

// codeOf returns the driver's code of an error, or SQLITE_OK if it has none.
func codeOf(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()
	}
	return sqlite3.SQLITE_OK
}

// diskFull reports whether the driver found no space on the disk.
func diskFull(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE
}

// diskFails reports whether the driver couldn't read or write its files, or found no space. SQLite
// may then have undone the whole transaction.
func diskFails(err error) bool {
	primary := codeOf(err) & 0xff
	return diskFull(err) || primary == sqlite3.SQLITE_IOERR || primary == sqlite3.SQLITE_CANTOPEN
}

// explain turns the driver's errors for a missing row and for a failing disk into errors of package
// lipsync. It returns any other error as it is.
func explain(err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return failure.New(failure.NotFound, "not found")
	case diskFull(err):
		return failure.ErrNoSpace(err)
	case diskFails(err):
		return fmt.Errorf("%w: %w", syscall.EIO, err)
	default:
		return err
	}
}
