// Package sqlite keeps the records of one machine in one SQLite file.
//
// Several processes may use the file at the same time, such as a server and a command that makes
// keys.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/domain/lipsync"
)

// Store has the ports of lipsync.Store with one file.
type Store struct {
	lipsync.Store
	// Observer learns what time an operation on the database took, and how it ended. Set it before the store is used.
	Observer func(ctx context.Context, operation string, took time.Duration, err error)

	write   *sql.DB // one connection: SQLite has one writer at a time
	writes  chan write
	closed  chan struct{} // Close closes it; no write begins after that
	written chan struct{} // closed when all writes are done
	read    *sql.DB       // rows one by one
	lists   *sql.DB       // many rows at a time: see many
	reserve reserve       // only writeAll uses it
}

// Open opens the database at path. It creates or migrates the file first if necessary.
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	s := &Store{
		Observer: func(context.Context, string, time.Duration, error) {},
		writes:   make(chan write), closed: make(chan struct{}), written: make(chan struct{}),
		reserve: reserve{database: path},
	}
	s.Store = lipsync.Store{
		Requests: requests{s}, Leases: leases{s}, Keys: keys{s}, Uploads: uploads{s},
		Rates: &rates{windows: make(map[string]window)}, Webhooks: webhooks{s}, Speeds: speeds{s}, Batches: batches{s}, Calls: &calls{Store: s},
	}
	if s.write, err = open(path, "immediate"); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	go s.writeAll()
	if err := s.migrate(ctx, steps()); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), s.Close())
	}
	for db, most := range map[**sql.DB]int{&s.read: maxReaders, &s.lists: maxLists} {
		if *db, err = open(path, "deferred"); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		(*db).SetMaxIdleConns(most)
		(*db).SetMaxOpenConns(most)
	}
	return s, nil
}

// create makes the file, if there is none. Only its owner can read it, since users' URLs may have
// secrets in them. SQLite gives the same mode to the other files of the database.
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

// maxReaders and maxLists are the largest numbers of connections that read rows and lists while one writes.
const (
	maxReaders = 8
	maxLists   = 4
)

// open returns a pool of connections whose transactions begin with the mode begin. With synchronous
// FULL a commit is on the disk before it returns, so it survives a killed process and a power cut. With secure_delete the file
// has no text of erased records.
func open(path, begin string) (*sql.DB, error) {
	query := url.Values{
		"_txlock": {begin},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)"},
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return sql.Open("sqlite", address.String())
}

// Close writes the calls that wait, waits for the writes that have begun, and closes the store. Call it once.
func (s *Store) Close() error {
	errs := []error{s.Calls.(*calls).flush(context.Background())}
	close(s.closed)
	<-s.written
	for _, db := range []*sql.DB{s.read, s.lists, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
