package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// maxBatch bounds how many writes share a transaction, and so how long the first
// of them waits.
const maxBatch = 64

// write is one change of the records, and where its outcome goes.
type write struct {
	change func(context.Context, *sql.Tx) error
	done   chan error
}

// update runs change in a transaction, in which it sees all earlier ones. It is
// done or undone as a whole, and on the disk when update returns nil. Once it
// began, ctx has no say any more: change gets a context that does not end.
func (s *Store) update(ctx context.Context, change func(context.Context, *sql.Tx) error) error {
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

// writeAll serves update until the store is closed. Writes that wait at the same
// time share a transaction, so that one sync of the disk serves them all.
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

// batch returns the write, and those that wait beside it.
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

// commit makes one transaction of the batch, on a full disk with what the reserve
// gives. A write that fails is undone by itself; if the transaction fails, then every
// write in it.
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

// transact makes one transaction of the batch, unless it returns an error. The
// outcomes are those of the writes in it.
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

// changeRow runs one statement, and returns missing if it changes no row.
func (s *Store) changeRow(ctx context.Context, missing error, query string, args ...any) error {
	return s.update(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); n > 0 || err != nil {
			return err
		}
		return missing
	})
}
