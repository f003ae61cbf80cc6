package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// Snapshot copies the database at path, as it is at one moment, to a new file. Other processes may
// use the database meanwhile. Snapshot does not migrate it.
func Snapshot(ctx context.Context, path, copied string) (err error) {
	db, err := openToRead(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := create(copied); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", copied)
	return err
}

// Check reads the whole database at path. It returns an error if the database is damaged or has a
// version that this program does not know.
func Check(ctx context.Context, path string) (err error) {
	db, err := openToRead(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var version int
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version > len(steps()):
		return errNewer
	case version == 0:
		return errors.New("the database is empty")
	}
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("the database is damaged: %s", found)
	}
	return nil
}

// openToRead opens an existing file without migrating it.
func openToRead(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	query := url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(10000)"}}
	address := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}
