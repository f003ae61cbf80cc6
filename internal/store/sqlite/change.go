package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"

	"lipsync/internal/domain/lipsync"
)

func (s leases) Change(ctx context.Context, id string, t lipsync.Transition) (r lipsync.Request, err error) {
	err = s.update(ctx, "change", func(ctx context.Context, tx *sql.Tx) (err error) {
		r, err = change(ctx, tx, id, t)
		return err
	})
	return r, err
}

// change does what Change does, in a transaction.
func change(ctx context.Context, tx *sql.Tx, id string, t lipsync.Transition) (r lipsync.Request, err error) {
	was, err := scanRequest(tx.QueryRowContext(ctx, "SELECT "+requestColumns+" FROM requests WHERE id = ?", id))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, err
	}
	if r, err = t(was); err != nil {
		return r, err
	}
	if err := updateColumns(ctx, tx, was, r); err != nil {
		return r, err
	}
	if r.GivesBack(was.Status) {
		if _, err := tx.ExecContext(ctx, "UPDATE keys SET used = used - 1 WHERE id = ?", r.KeyID); err != nil {
			return r, err
		}
	}
	return r, addDeliveries(ctx, tx, r.News(was.Status))
}

// updateColumns writes those columns of a request that differ. The others would cost writes of indexes, and fire triggers.
func updateColumns(ctx context.Context, tx *sql.Tx, was, is lipsync.Request) error {
	var set []string
	var args []any
	old := requestFields(&was)
	for i, c := range requestFields(&is) {
		before, err := driver.DefaultParameterConverter.ConvertValue(old[i].place)
		if err != nil {
			return err
		}
		after, err := driver.DefaultParameterConverter.ConvertValue(c.place)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(before, after) {
			set, args = append(set, c.name+" = ?"), append(args, after)
		}
	}
	if set == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE requests SET "+strings.Join(set, ", ")+" WHERE id = ?", append(args, is.ID)...)
	return err
}
