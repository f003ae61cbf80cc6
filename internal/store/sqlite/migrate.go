package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
)

// migrations has a file for each version of the schema, in this order. Each one updates a database from the version before; the first
// one makes a new database. Users have databases of every released version, so only add files at the end, and never change one.
//
//go:embed migrations
var migrations embed.FS

var errNewer = errors.New("the database was made by a newer version of the program")

// steps returns the statements of each migration.
func steps() (all []string) {
	files, err := migrations.ReadDir("migrations")
	for _, f := range files {
		text, readErr := migrations.ReadFile("migrations/" + f.Name())
		all, err = append(all, string(text)), errors.Join(err, readErr)
	}
	if err != nil {
		panic(err) // can't happen: the files are in the program
	}
	return all
}

// migrate updates the file by those of the steps that it does not have yet. The file's user_version is the number of steps that it
// has, which is 0 for a new file.
func (s *Store) migrate(ctx context.Context, steps []string) error {
	return s.update(ctx, "migrate", func(ctx context.Context, tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		switch {
		case version > len(steps):
			return errNewer
		case version == len(steps):
			return nil // without a write, since the disk may be full
		}
		for _, text := range steps[version:] {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps)))
		return err
	})
}
