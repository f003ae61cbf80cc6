package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"lipsync/internal/domain/failure"
)

// Stamps tells which folder of media belongs to the records: the one that has Stamp or Previous. Both are "" if no server has used
// the records.
type Stamps struct {
	Stamp, Previous string
	At              time.Time // when a server wrote the stamp
}

// Has reports whether a folder with the stamp belongs to the records.
func (s Stamps) Has(stamp string) bool {
	return stamp != "" && (stamp == s.Stamp || stamp == s.Previous)
}

// Stamps returns the stamps.
func (s *Store) Stamps(ctx context.Context) (Stamps, error) {
	found, err := one(ctx, s, "stamps", func(columns row) (found Stamps, err error) {
		err = columns.Scan(&found.Stamp, &found.Previous, instant{&found.At})
		return found, err
	}, "SELECT stamp, previous, at FROM stamps")
	return found, failure.Unless(failure.NotFound, err)
}

// PutStamps replaces the stamps.
func (s *Store) PutStamps(ctx context.Context, n Stamps) error {
	return s.update(ctx, "put_stamps", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM stamps")
		_, inserted := tx.ExecContext(ctx, "INSERT INTO stamps (stamp, previous, at) VALUES (?, ?, ?)", n.Stamp, n.Previous, micros(n.At))
		return errors.Join(err, inserted)
	})
}
