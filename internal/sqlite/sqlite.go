// Package sqlite keeps the records of one machine in one SQLite file.
//
// Several processes may use the file at a time, such as a server and a command
// that makes keys.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"lipsync/internal/lipsync"
)

// schema makes version 1 of a new file.
//
//go:embed schema.sql
var schema string

// addEngine makes version 2: before it there was one engine.
const addEngine = "ALTER TABLE requests ADD COLUMN engine TEXT NOT NULL DEFAULT 'warp'"

// addProgress makes version 3: before it workers reported none.
const addProgress = `ALTER TABLE requests ADD COLUMN stage TEXT NOT NULL DEFAULT '';
	ALTER TABLE requests ADD COLUMN percent INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE requests ADD COLUMN ends INTEGER NOT NULL DEFAULT 0`

// addUsage makes version 4: before it nobody told how long outputs were.
//
//go:embed usage.sql
var addUsage string

// addStatuses makes version 5: before it nobody asked for them.
const addStatuses = "CREATE UNIQUE INDEX requests_by_status ON requests (account, status, seq)"

// addReferenceStatuses makes version 6: before it many requests of one reference
// id took long.
const addReferenceStatuses = `CREATE UNIQUE INDEX requests_by_reference_status
	ON requests (account, reference_id, status, seq) WHERE reference_id <> ''`

// addLimits makes version 8: before it accounts had no limits, and requests were
// claimed in the order of their creation.
//
//go:embed limits.sql
var addLimits string

// addMedia makes version 10: before it clients could not have media deleted.
//
//go:embed media.sql
var addMedia string

// addLengths makes version 11: before it nobody told how long inputs were.
const addLengths = `ALTER TABLE requests ADD COLUMN video_length INTEGER NOT NULL DEFAULT 0; -- in microseconds
	ALTER TABLE requests ADD COLUMN audio_length INTEGER NOT NULL DEFAULT 0`

// addPutOff makes version 12: before it a sweep looked at the oldest open requests only.
const addPutOff = "CREATE INDEX requests_put_off ON requests (lease_until) WHERE lease = '' AND lease_until > 0"

// addNames makes version 13: before it nobody kept the names of files and the beginnings of
// tokens, and what was canceled counted as failed.
//
//go:embed names.sql
var addNames string

// Store has the ports of lipsync.Store, on one file.
type Store struct {
	lipsync.Store
	write   *sql.DB // one connection: SQLite has one writer at a time
	writes  chan write
	closed  chan struct{} // closed by Close: no write begins any more
	written chan struct{} // closed when all that began are done
	read    *sql.DB
	reserve reserve // of writeAll
}

// Open opens the file at path, and makes it or brings it up to date first.
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	s := &Store{
		writes: make(chan write), closed: make(chan struct{}), written: make(chan struct{}),
		reserve: reserve{database: path},
	}
	s.Store = lipsync.Store{
		Requests: requests{s}, Leases: leases{s}, Keys: keys{s}, Uploads: uploads{s},
		Rates: &rates{windows: make(map[string]window)},
	}
	if s.write, err = open(path, "immediate"); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	go s.writeAll()
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), s.Close())
	}
	if s.read, err = open(path, "deferred"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.read.SetMaxIdleConns(maxReaders)
	s.read.SetMaxOpenConns(maxReaders)
	return s, nil
}

// create makes the file for its owner alone, if there is none: users' URLs may
// hold secrets. SQLite gives the files beside it the same mode.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// maxReaders bounds the connections that read beside the writer.
const maxReaders = 8

// open makes a pool of connections whose transactions begin in the given way.
// With synchronous FULL a commit is on the disk before it is acknowledged: it
// outlives a killed process and a power cut.
func open(path, begin string) (*sql.DB, error) {
	query := url.Values{
		"_txlock": {begin},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)"},
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return sql.Open("sqlite", address.String())
}

// Close ends the store, once what began is done. It is to be called once.
func (s *Store) Close() error {
	close(s.closed)
	<-s.written
	var err error
	if s.read != nil {
		err = s.read.Close()
	}
	return errors.Join(err, s.write.Close())
}

// migrate brings the file to the newest version, which user_version counts.
func (s *Store) migrate(ctx context.Context) error {
	return s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		all := migrations()
		switch {
		case version > len(all):
			return errNewer
		case version == len(all):
			return nil // and write nothing: the disk may be full
		}
		for _, migration := range all[version:] {
			if err := migration(ctx, tx); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(all)))
		return err
	})
}

// migration brings a file to the next version.
type migration func(context.Context, *sql.Tx) error

// migrations each bring a file from the version of their index to the next one. Files
// of every version are out there: add at the end, change nothing.
func migrations() []migration {
	return []migration{
		statements(schema), statements(addEngine), statements(addProgress), statements(addUsage),
		statements(addStatuses), statements(addReferenceStatuses), codeFailures, statements(addLimits),
		statements(splitDelays), statements(addMedia), statements(addLengths), statements(addPutOff),
		statements(addNames),
	}
}

// statements is a migration by statements of SQL.
func statements(text string) migration {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text)
		return err
	}
}

var errNewer = errors.New("the database was made by a newer version of the program")

// refusal is an error that a port's comment names. The domain knows the words
// for it.
func refusal(code lipsync.Code, message string) error {
	return &lipsync.Error{Code: code, Message: message}
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant scans a column of microseconds.
type instant struct{ t *time.Time }

func (i instant) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("time column holds %T", src)
	}
	*i.t = time.Time{}
	if us != 0 {
		*i.t = time.UnixMicro(us).UTC()
	}
	return nil
}

// span scans a column of microseconds that is a length of time.
type span struct{ d *time.Duration }

func (s span) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("column of a length holds %T", src)
	}
	*s.d = time.Duration(us) * time.Microsecond
	return nil
}
