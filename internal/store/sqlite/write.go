package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// maxBatch is the largest number of writes that share a transaction. It bounds the time that the
// first of them waits.
const maxBatch = 64

// write is one change of the records, with the channel for its outcome.
type write struct {
	change func(context.Context, *sql.Tx) error
	done   chan error
}

// update runs change, an operation, in a transaction that sees all earlier changes. The change is done or undone
// as a whole, and it is on the disk when update returns nil. Once change has begun, the end of ctx
// does not stop it: it gets a context that does not end.
func (s *Store) update(ctx context.Context, operation string, change func(context.Context, *sql.Tx) error) (err error) {
	defer s.observe(ctx, operation, time.Now(), &err)
	if err := ctx.Err(); err != nil {
		return err
	}
	w := write{change, make(chan error, 1)}
	select {
	case s.writes <- w:
		return <-w.done
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return sql.ErrConnDone
	}
}

// writeAll runs the changes of update until the store is closed. Writes that wait at the same time
// share a transaction, so they need only one sync of the disk.
func (s *Store) writeAll() {
	defer close(s.written)
	for {
		select {
		case first := <-s.writes:
			s.commit(context.Background(), s.batch(first))
		case <-s.closed:
			return
		}
	}
}

// batch returns first and the other writes that wait.
func (s *Store) batch(first write) []write {
	batch := []write{first}
	for len(batch) < maxBatch {
		select {
		case next := <-s.writes:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// commit runs the batch in one transaction. On a full disk it gives up the reserve and tries again.
// If a write fails, only that write is undone; if the transaction fails, all its writes are undone.
func (s *Store) commit(ctx context.Context, batch []write) {
	outcomes, err := s.transact(ctx, batch)
	if diskFull(err) && s.reserve.give() {
		outcomes, err = s.transact(ctx, batch)
	}
	if err == nil {
		s.reserve.keep()
	}
	for i, w := range batch {
		if outcomes[i] == nil || diskFails(outcomes[i]) {
			outcomes[i] = explain(err)
		}
		w.done <- outcomes[i]
	}
}

// transact runs the batch in one transaction and returns the outcome of each write. After an error
// the whole transaction is undone.
func (s *Store) transact(ctx context.Context, batch []write) (outcomes []error, err error) {
	outcomes = make([]error, len(batch))
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return outcomes, err
	}
	for i, w := range batch {
		outcomes[i] = inSavepoint(ctx, tx, w.change)
		if diskFails(outcomes[i]) {
			return outcomes, errors.Join(outcomes[i], tx.Rollback())
		}
	}
	return outcomes, tx.Commit()
}

func inSavepoint(ctx context.Context, tx *sql.Tx, change func(context.Context, *sql.Tx) error) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT change"); err != nil {
		return err
	}
	err := change(ctx, tx)
	if err != nil {
		_, undone := tx.ExecContext(ctx, "ROLLBACK TO change")
		err = errors.Join(err, undone)
	}
	_, released := tx.ExecContext(ctx, "RELEASE change")
	return errors.Join(err, released)
}

// changeRow runs one statement and returns missing if it changes no row.
func (s *Store) changeRow(ctx context.Context, operation string, missing error, query string, args ...any) error {
	return s.update(ctx, operation, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		return changed(result, err, missing)
	})
}

// changed returns the error err of a statement, or missing if the statement changed no row.
func changed(result sql.Result, err, missing error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n > 0 || err != nil {
		return err
	}
	return missing
}
