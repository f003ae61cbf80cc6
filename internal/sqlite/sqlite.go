// Package sqlite keeps the records of one machine in one SQLite file.
//
// Several processes may use the file at a time, such as a server and a command
// that makes keys.
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

	"lipsync/internal/lipsync"
)

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
	defineFunctions()
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

// create makes the file, if there is none. Only its owner can read it: users' URLs may
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

// refusal is an error that a port's comment names. The domain knows the words
// for it.
func refusal(code lipsync.Code, message string) error {
	return &lipsync.Error{Code: code, Message: message}
}
