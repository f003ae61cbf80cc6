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

	"lipsync/internal/lipsync"
)

// schema makes a new file of the newest version.
//
//go:embed schema.sql
var schema string

// migrations holds a file for each version from 2 on, in their order: it makes a file of that
// version of one of the version before. Files of every version are out there: add at the end,
// change nothing, and change schema.sql likewise.
//
//go:embed migrations
var migrations embed.FS

var errNewer = errors.New("the database was made by a newer version of the program")

// steps returns the text of each migration: the first one leads from version 1 to version 2.
func steps() (all []string) {
	files, err := migrations.ReadDir("migrations")
	for _, f := range files {
		text, readErr := migrations.ReadFile("migrations/" + f.Name())
		all, err = append(all, string(text)), errors.Join(err, readErr)
	}
	if err != nil {
		panic(err) // the files are in the program
	}
	return all
}

// newest returns the newest version of a file.
func newest() int { return 1 + len(steps()) }

// migrate brings the file to the newest version. Its user_version says which one it has: 0 if
// it is new.
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
			return nil // and write nothing: the disk may be full
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

// defineFunctions gives SQL the functions of the migration to version 7, which take the sentence of
// a failure. The driver keeps them for all files.
var defineFunctions = sync.OnceFunc(func() {
	sqlite.MustRegisterDeterministicScalarFunction("failure_code", 1, ofFailure(func(f lipsync.Failure) string { return string(f.Code) }))
	sqlite.MustRegisterDeterministicScalarFunction("failure_details", 1, ofFailure(lipsync.Failure.Text))
})

// ofFailure is a function of SQL that finds a text in the failure that a sentence tells.
func ofFailure(find func(lipsync.Failure) string) func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
	return func(_ *sqlite.FunctionContext, sentence []driver.Value) (driver.Value, error) {
		text, ok := sentence[0].(string)
		if !ok {
			return nil, fmt.Errorf("sentence of a failure is %T", sentence[0])
		}
		return find(lipsync.ParseFailure(text)), nil
	}
}
