package sqlite

import (
	"context"
	"database/sql"
	"time"

	"lipsync/internal/domain/lipsync"
)

// observe tells the observer of an operation that began at the given time, and ended with the error.
func (s *Store) observe(ctx context.Context, operation string, began time.Time, err *error) {
	s.Observer(ctx, operation, time.Since(began), *err)
}

// row is a *sql.Row or *sql.Rows.
type row interface{ Scan(dest ...any) error }

// querier is a *sql.DB or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// one returns the row that a query finds, in an operation.
func one[T any](ctx context.Context, s *Store, operation string, scan func(row) (T, error), query string, args ...any) (t T, err error) {
	defer s.observe(ctx, operation, time.Now(), &err)
	t, err = scan(s.read.QueryRowContext(ctx, query, args...))
	return t, explain(err)
}

// many returns the rows that a query finds, in an operation. It has connections of its own, so that no list makes reads of one row wait, by
// which calls are authenticated and workers hold their requests.
func many[T any](ctx context.Context, s *Store, operation string, scan func(row) (T, error), query string, args ...any) (all []T, err error) {
	defer s.observe(ctx, operation, time.Now(), &err)
	rows, err := s.lists.QueryContext(ctx, query, args...)
	return collect(rows, err, scan)
}

// selectRequests returns the requests that the clauses select, in an operation.
func (s *Store) selectRequests(ctx context.Context, operation, clauses string, args ...any) ([]lipsync.Request, error) {
	return many(ctx, s, operation, scanRequest, "SELECT "+requestColumns+" FROM requests "+clauses, args...)
}

// selectListed returns the requests that the clauses select, as lists have them, in an operation.
func (s *Store) selectListed(ctx context.Context, operation, clauses string, args ...any) ([]lipsync.Request, error) {
	return many(ctx, s, operation, scanListed, "SELECT "+listedColumns+" FROM requests "+clauses, args...)
}

// scanValue scans a row of one column.
func scanValue[T any](columns row) (value T, err error) {
	err = columns.Scan(&value)
	return value, err
}

// collect scans all rows of a query and closes them.
func collect[T any](rows *sql.Rows, err error, scan func(row) (T, error)) (all []T, _ error) {
	if err != nil {
		return nil, explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, explain(err)
		}
		all = append(all, t)
	}
	return all, explain(rows.Err())
}
