package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"sync"

	"modernc.org/sqlite"

	"lipsync/internal/domain/lipsync"
)

// schema has the statements that create the newest version of the schema.
//
//go:embed schema.sql
var schema string

// migrations has a file for each version from 2 on, in this order. Each one updates a database from
// the version before. Users have databases of every version, so only add migrations at the end,
// never change one, and make the same change in schema.sql.
//
//go:embed migrations
var migrations embed.FS

var errNewer = errors.New("the database was made by a newer version of the program")

// steps returns the statements of each migration. The first one updates version 1 to version 2.
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

// newest returns the newest version of the schema.
func newest() int { return 1 + len(steps()) }

// migrate updates the file to the newest version. The file's user_version has its version, which is
// 0 for a new file.
func (s *Store) migrate(ctx context.Context) error {
	return s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		missing := []string{schema}
		switch {
		case version > newest():
			return errNewer
		case version == newest():
			return nil // without a write, since the disk may be full
		case version > 0:
			missing = steps()[version-1:]
		}
		for _, text := range missing {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", newest()))
		return err
	})
}

// defineFunctions defines the SQL functions that the migration to version 7 calls. Their argument is
// the sentence of a failure. The driver has them for all databases.
var defineFunctions = sync.OnceFunc(func() {
	sqlite.MustRegisterDeterministicScalarFunction("failure_code", 1, ofFailure(func(f lipsync.Failure) string { return string(f.Code) }))
	sqlite.MustRegisterDeterministicScalarFunction("failure_details", 1, ofFailure(lipsync.Failure.Text))
})

// ofFailure returns an SQL function that applies find to the failure with a given sentence.
func ofFailure(find func(lipsync.Failure) string) func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
	return func(_ *sqlite.FunctionContext, sentence []driver.Value) (driver.Value, error) {
		text, ok := sentence[0].(string)
		if !ok {
			return nil, fmt.Errorf("sentence of a failure is %T", sentence[0])
		}
		return find(lipsync.ParseFailure(text)), nil
	}
}
